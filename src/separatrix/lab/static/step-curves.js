// A small curve over the updates, with the playhead at the present one. It can be read as a table, too.
import { h, s, short } from "./dom.js";

const WIDTH = 380, HEIGHT = 84;

export function curve({ title, values, low, most, whole }, k) {
  const known = values.filter(value => value !== null), last = values.length - 1;
  const top = most ?? Math.max(...known, 1e-12), bottom = Math.min(0, ...known);
  const x = j => 4 + (last ? j / last : 0) * (WIDTH - 8), y = v => 6 + (1 - (v - bottom) / (top - bottom || 1)) * (HEIGHT - 12);
  const path = (list, to) => list.slice(0, to + 1).map((v, j) => (v === null ? "" : `${list.slice(0, j).some(one => one !== null) ? "L" : "M"}${x(j).toFixed(1)},${y(v).toFixed(1)}`)).join("");
  const now = values[k], shown = now === null ? "–" : whole ? `${now} of ${most}` : short(now);
  const svg = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + 20}`, role: "img", "aria-label": `${title}: ${shown} at update ${k} of ${last}` },
    s("path", { class: "grid", d: `M0,${y(bottom)}H${WIDTH}` }),
    s("path", { class: "curve past", d: path(values, last) }), s("path", { class: "curve", d: path(values, k) }),
    low && s("path", { class: "curve low", d: path(low, last) }),
    low && s("text", { class: "tick", x: WIDTH - 4, y: y(low[last]) - 7, "text-anchor": "end" }, "the proof’s bound"),
    s("path", { class: "now", d: `M${x(k)},0V${HEIGHT}` }), now !== null && s("circle", { class: "dot", cx: x(k), cy: y(now), r: 5 }),
    s("text", { class: "tick", x: 0, y: HEIGHT + 16 }, "0"), s("text", { class: "tick", x: WIDTH, y: HEIGHT + 16, "text-anchor": "end" }, String(last)));
  return h("figure", {}, h("figcaption", {}, h("span", {}, title), h("b", {}, shown)), svg);
}
