// The points as a table with editable cells, for those who do not drag. It is hidden until it has the focus.
import { fixed, h } from "./dom.js";
import { SHAPE_NAMES } from "./stage.js";

/** `points()` gives the PointSet; `changed()` is called after an edit. */
export function pointTable(points, changed) {
  const body = h("tbody");
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
    h("tr", {}, h("th", { scope: "row" }, String(i)), cell(i, 0), cell(i, 1), kind(i))));
  const heads = ["row", "x₁", "x₂", "class"].map(text => h("th", { scope: "col" }, text));
  const details = h("details", { class: "point-table", toggle: () => details.open && fill() },
    h("summary", {}, "Points as a table"),
    h("table", {}, h("thead", {}, h("tr", {}, heads)), body));
  details.refresh = () => { if (details.open && !details.contains(document.activeElement)) fill(); };
  return details;
}

const MOST_ROWS = 13;

/** The curves of a figure as a table of at most MOST_ROWS places: {x: [...], name: [...]}; null is infinite. */
export function curveTable(title) {
  const table = h("table"), place = h("div", {}, table);
  const details = h("details", { class: "more", toggle: () => fill() }, h("summary", {}, "As a table", h("span", { class: "hidden" }, `: ${title}`)), place);
  let curves = {};
  const fill = () => {
    if (!details.open) return;
    const names = Object.keys(curves), all = Object.values(curves), by = Math.ceil(all[0].length / (MOST_ROWS - 1));
    const rows = all[0].map((_, j) => j).filter(j => j % by === 0 || j === all[0].length - 1);
    table.replaceChildren(h("thead", {}, h("tr", {}, names.map(name => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map(j => h("tr", {}, all.map((list, k) => h(k ? "td" : "th", { scope: k ? null : "row" }, list[j] === null ? "∞" : fixed(list[j], k ? 4 : 2)))))));
  };
  details.show = made => { curves = made; fill(); };
  return details;
}
