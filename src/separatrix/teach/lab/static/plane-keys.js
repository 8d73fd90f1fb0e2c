// The keyboard on the plane: N and P choose a point, arrows move it, digits add, Delete removes, Z undoes.
import { fixed } from "./dom.js";
import { limited, movable, stepped } from "./limits.js";
import { COLOURS } from "./stage.js";

export const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export function planeKeys(plane) {
  let order = []; // rows by their distance from the point at which N or P was first pressed
  let moving = false;
  const { svg } = plane;

  function step(by) {
    const { X } = plane.set;
    if (!X.some((_, i) => movable(i))) return;
    if (order.length !== X.length) {
      const [x, y] = X[plane.row] ?? [0, 0];
      order = X.map((p, i) => [Math.hypot(p[0] - x, p[1] - y), i]).sort((a, b) => a[0] - b[0]).map(([, i]) => i).filter(movable);
    }
    plane.row = order[(order.indexOf(plane.row) + by + order.length) % order.length];
  }

  async function said() {
    await plane.fit();
    const at = plane.set.X[plane.row];
    const where = at ? `Row ${plane.row}, ${COLOURS[plane.set.y[plane.row]]}, at ${fixed(at[0])}, ${fixed(at[1])}. ` : "";
    plane.lab.say(where + plane.sentence());
  }

  svg.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { X } = plane.set, arrow = ARROWS[event.key], digit = Number(event.key);
    if (arrow && X[plane.row]) {
      if (!moving) plane.set.keep();
      moving = true;
      plane.place(plane.row, stepped(X[plane.row], arrow, event.shiftKey ? 1 : 0.1));
      order = [];
    } else if (event.key === "n" || event.key === "p") { step(event.key === "n" ? 1 : -1); moving = false; }
    else if (limited() && !["z", "Escape"].includes(event.key)) return;
    else if (digit >= 1 && digit <= 6) {
      const [l, r, lo, hi] = plane.stage.box;
      plane.add(X[plane.row] ? [X[plane.row][0] + 0.3, X[plane.row][1]] : [(l + r) / 2, (lo + hi) / 2], digit - 1);
      moving = false;
    } else if ((event.key === "Delete" || event.key === "Backspace") && X[plane.row]) { plane.erase(plane.row); moving = false; }
    else if (event.key === "z") { plane.undo(); moving = false; }
    else if (event.key === "Escape") return svg.blur();
    else return;
    event.preventDefault();
    said();
  });
  svg.addEventListener("keyup", event => { if (event.key in ARROWS) { moving = false; plane.choices(); } });
}
