// The rows of a table in a plane: points, or hexagons that count them, with the regions and boundaries of the model.
import { s } from "./dom.js";

const PALEST = 0.25; // the opacity of a hexagon whose most frequent class has no more than an equal share

/** Draw the answer of the server. Its places are in a box `aspect` wide and 1 high; `box` has the units of the axes. */
export function drawRows({ stage, layers, drawn, answer }) {
  stage.box = drawn.box;
  const axes = stage.axes(["", ""]);
  stage.box = [0, drawn.aspect, 0, 1];
  stage.points = null;
  const { width, height } = stage, [across, up] = drawn.names.map(name => cut(name, stage.small ? 26 : 60));
  layers.ground.replaceChildren(...drawn.regions.map(one => stage.region(one)));
  layers.axes.replaceChildren(...axes);
  const rings = (drawn.mistakes ?? []).map(i => s("circle", { class: "ring", r: stage.small ? 9.5 : 11, transform: stage.place(drawn.X[i]) }));
  layers.marks.replaceChildren(...rings, ...stage.marks(drawn.X ?? [], drawn.y ?? []), ...(drawn.cells ? hexagons(stage, drawn.cells, answer.classes.length) : []));
  layers.lines.replaceChildren(...drawn.lines.map(line => s("path", { class: "boundary line-0", d: stage.path(line) })));
  layers.over.replaceChildren(stage.text(width - 12, height - 26, across, "label soft", "end"), stage.text(10, 18, up, "label soft"));
}

function hexagons(stage, { centre, unit, radius, k, share, wrong }, classes) {
  const size = unit / Math.sqrt(3) * stage.height, even = 1 / classes;
  return centre.map((at, i) => {
    const corners = [0, 1, 2, 3, 4, 5].map(j => { const a = Math.PI * (j / 3 + 1 / 6); return `${(size * radius[i] * Math.cos(a)).toFixed(1)},${(size * radius[i] * Math.sin(a)).toFixed(1)}`; });
    const opacity = PALEST + (1 - PALEST) * Math.max(0, (share[i] - even) / (1 - even));
    return s("path", { class: `hexagon class-${k[i]}${wrong[i] ? " mostly-wrong" : ""}`, d: `M${corners.join("L")}Z`, "fill-opacity": opacity.toFixed(2), transform: stage.place(at) });
  });
}

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
