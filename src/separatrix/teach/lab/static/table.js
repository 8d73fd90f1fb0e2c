// Tables for those who do not drag or look: numbers by name, the numbers of a curve, and the points with editable cells.
import { fixed, h, short } from "./dom.js";
import { tableParts, tableRow } from "./parts.js";
import { SHAPE_NAMES } from "./stage.js";

const written = value => typeof value === "string" || Number.isInteger(value) ? String(value) : short(value);

/** The numbers of a curve. `rows()` gives the heads and the rows; it is called when the table is open. */
export function asTable(name, rows) {
  const place = h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": name });
  const refresh = () => {
    if (!details.open) return;
    const [heads, ...others] = rows();
    place.replaceChildren(h("table", {}, tableParts(heads, others.map(row => tableRow({}, ...row.map(written))))));
  };
  const details = h("details", { class: "more as-table", toggle: refresh }, h("summary", {}, "As a table", h("span", { class: "hidden" }, `: ${name}`)), place);
  return Object.assign(details, { refresh });
}

/** The points with cells that can be edited; hidden until it has the focus. `points()` gives the PointSet; `changed()` is called after an edit. */
export function pointTable(points, changed) {
  const [head, body] = tableParts(["row", "x₁", "x₂", "class"], []);
  const cell = (i, j) => h("td", {}, h("input", {
    type: "number", step: "0.1", "aria-label": `x${j + 1} of row ${i}`, value: points().X[i][j],
    change: event => {
      if (!Number.isFinite(event.target.valueAsNumber)) return void (event.target.value = points().X[i][j]);
      const place = points().X[i].slice();
      place[j] = event.target.valueAsNumber;
      points().keep();
      points().move(i, place);
      event.target.value = points().X[i][j];
      changed();
    },
  }));
  const kind = i => h("td", {}, h("select", {
    "aria-label": `class of row ${i}`,
    change: event => { points().keep(); points().y[i] = Number(event.target.value); changed(); },
  }, SHAPE_NAMES.map((name, k) => h("option", { value: k, selected: points().y[i] === k }, name))));
  const fill = () => body.replaceChildren(...points().X.map((_, i) =>
    tableRow({}, String(i), cell(i, 0), cell(i, 1), kind(i))));
  const details = h("details", { class: "point-table", toggle: () => details.open && fill() },
    h("summary", {}, "Points as a table"),
    h("div", { class: "scroll" }, h("table", {}, head, body)));
  details.refresh = () => { if (details.open && !details.contains(document.activeElement)) fill(); };
  return details;
}

/** Rows of a name and its values, with the names of the columns if there are several. */
export const factTable = (rows, heads = []) => h("table", {}, heads.length > 0 && h("thead", {}, h("tr", {}, h("td"), heads.map(text => h("th", { scope: "col" }, text)))),
  h("tbody", {}, rows.map(([name, ...cells]) => tableRow({ "data-fact": name }, name, ...cells))));

/** The curves of a figure, every tenth place of them; the first is the places. */
export function curveTable(title) {
  let curves = { "": [] };
  const table = asTable(title, () => {
    const [[name, x], ...others] = Object.entries(curves);
    return [[name, ...others.map(([other]) => other)], ...x.flatMap((at, j) => j % 10 ? [] : [[fixed(at), ...others.map(([, values]) => fixed(values[j], 4))]])];
  });
  return Object.assign(table, { show: made => { curves = made; table.refresh(); } });
}
