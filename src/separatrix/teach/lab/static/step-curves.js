// A small curve over the updates, with the playhead at the present one, and the same numbers as a table.
import { h, s, short } from "./dom.js";
import { asTable } from "./table.js";

const HEIGHT = 84;

/** The figure of a curve; `show(curve, k)` draws it with the playhead at update k. */
export function curveFigure() {
  let curve = null;
  const title = h("span"), value = h("b"), svg = s("svg", { role: "img" });
  const rows = () => [["update", curve.title, ...(curve.low ? ["the proof’s bound"] : [])], ...curve.values.map((v, j) => [named(curve, j), v, ...(curve.low ? [curve.low[j]] : [])])];
  const table = asTable("numbers of the curve", rows), element = h("figure", {}, h("figcaption", {}, title, value), svg, table);
  const show = (given, k) => {
    const renewed = curve !== given, width = element.clientWidth || 380, last = given.updates.at(-1);
    curve = given;
    title.textContent = curve.title;
    value.textContent = shown(curve, k);
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT + 20}`);
    svg.setAttribute("aria-label", `${curve.title}: ${shown(curve, k)} at ${named(curve, k) === "answer" ? `the answer after update ${last}` : `update ${k} of ${last}`}`);
    svg.replaceChildren(...drawn(curve, k, width).filter(Boolean));
    if (renewed) table.refresh();
  };
  return { element, show };
}

/** The number of an update. The final answer is not an update, so it has a name instead. */
const named = ({ updates }, j) => (j && updates[j] === updates[j - 1] ? "answer" : updates[j]);
const shown = ({ values, most, whole }, k) => values[k] === null ? "–" : whole ? `${values[k]} of ${most}` : short(values[k]);

function drawn({ values, low, most, updates }, k, width) {
  const known = values.filter(value => value !== null), last = values.length - 1, now = values[k];
  const top = most ?? Math.max(...known, 1e-12), bottom = Math.min(0, ...known);
  const number = updates[last], x = j => 4 + (number ? updates[j] / number : 0) * (width - 8), y = v => 6 + (1 - (v - bottom) / (top - bottom || 1)) * (HEIGHT - 12);
  const path = (list, to) => list.slice(0, to + 1).flatMap((v, j) => (v === null ? [] : [`${x(j).toFixed(1)},${y(v).toFixed(1)}`])).join("L");
  const line = (kind, list, to) => s("path", { class: `curve ${kind}`, d: `M${path(list, to) || "0,0"}` });
  return [s("path", { class: "grid", d: `M0,${y(bottom)}H${width}` }), line("past", values, last), line("", values, k),
    low && line("low", low, last), low && s("text", { class: "tick", x: width - 4, y: y(low[last]) - 7, "text-anchor": "end" }, "the proof’s bound"),
    s("path", { class: "now", d: `M${x(k)},0V${HEIGHT}` }), now !== null && s("circle", { class: "dot", cx: x(k), cy: y(now), r: 5 }),
    s("text", { class: "tick", x: 0, y: HEIGHT + 16 }, "0"), s("text", { class: "tick", x: width, y: HEIGHT + 16, "text-anchor": "end" }, String(number))];
}
