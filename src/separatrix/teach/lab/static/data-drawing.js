// The rows of a table in a plane: points, with the regions and boundaries of the model.
import { s } from "./dom.js";
import { boundaries } from "./parts.js";

const SMALL = 500; // From this number of rows on, points are small, and so are the rings around mistakes.

/** Draw the answer of the server. Its places are in a box `aspect` wide and 1 high; `box` has the units of the axes. */
export function drawRows(stage, layers, { box, aspect, names, regions, lines, X, y, mistakes }) {
  stage.box = box;
  const axes = stage.axes(["", ""]);
  stage.box = [0, aspect, 0, 1];
  const [across, up] = names.map(name => (name.length > stage.width / 14 ? `${name.slice(0, stage.width / 14)}…` : name)), r = X.length > SMALL || stage.small ? 7 : 11;
  layers.ground.replaceChildren(...regions.map(one => stage.region(one)));
  layers.marks.replaceChildren(...mistakes.map(i => s("circle", { class: X.length > SMALL ? "ring fine" : "ring", r, transform: stage.place(X[i]) })), ...stage.marks(X, y));
  layers.lines.replaceChildren(...boundaries(stage, lines));
  layers.axes.replaceChildren(...axes, stage.text(stage.width - 44, stage.height - 26, across, "label soft", "end"), stage.text(10, 18, up, "label soft"));
}
