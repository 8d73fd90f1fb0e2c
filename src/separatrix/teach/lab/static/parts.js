// Parts that several pages show: sections, the code of the page, verdicts, layers of a picture, tables.
import { h, icon, s } from "./dom.js";

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** Whether the system asks for reduced motion. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** A part of the rail under a small title. */
export const section = (title, ...children) => h("section", {}, h("h2", {}, title), children);

/** The place for the lines of Python that reproduce the page, and the section with it. */
export const codeBlock = () => h("pre", { tabindex: "0", "aria-label": "The same in Python" });
export const codeSection = (...code) => section("The same in Python", code);

/** A sentence with a sign that says whether all is well. */
export const verdict = (fine, words, kind = fine ? "verdict" : "verdict unmet") => h("p", { class: kind }, icon(fine ? "check" : "warn"), h("span", {}, words));

/** The picture that keys act on, with its name for screen readers. */
export const mainPicture = (role, name, attributes = {}) => s("svg", { id: "stage", class: "stage", role, tabindex: "0", "aria-roledescription": name, ...attributes });

/** Groups inside an SVG, one for each kind of drawing; later ones are above. */
export function layersOf(svg, ...names) {
  const layers = Object.fromEntries(names.map(name => [name, s("g", { class: name })]));
  svg.append(...Object.values(layers));
  return layers;
}

export const figureOf = svg => h("figure", { class: "plane" }, svg);

/** The places of a curve, with a vertical line at 0 if it jumps there. */
export const placesOf = (x, values, jumps) => x.flatMap((at, j) => (jumps && Math.abs(at) < 1e-9 ? [values[j - 1], values[j + 1]] : [values[j]]).map(value => [at, value]));

/** The number of points in words. */
export const pointsOf = ({ length }) => `${length} point${length === 1 ? "" : "s"}`;

/** The boundaries of one model. */
export const boundaries = (stage, lines) => lines.map(line => s("path", { class: "boundary line-0", d: stage.path(line) }));

/** Count in the element what has been drawn: a program that watches the page can see that it has changed. */
export function counted({ dataset }, what = "drawn") { dataset[what] = Number(dataset[what] ?? 0) + 1; }

/** Call a function when the pointer is released, or taken away from the element. */
export function released(element, act) { for (const name of ["pointerup", "pointercancel"]) element.addEventListener(name, act); }

/** The parts of a table: the names of the columns, and rows of a name and its cells, which are texts or elements <td>. */
export const tableParts = (heads, rows) => [h("thead", {}, h("tr", {}, heads.map(text => h("th", { scope: "col" }, text)))), h("tbody", {}, rows)];
export const tableRow = (attributes, name, ...cells) => h("tr", attributes, h("th", { scope: "row" }, name), cells.flat().map(cell => (cell instanceof Element ? cell : h("td", {}, cell))));
