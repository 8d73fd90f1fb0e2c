// The button that undoes, and the points to start from: the same on every page with points.
import { h, icon, select } from "./dom.js";

/** `undone()` and `begun()` are called after `page.set` has changed; `request` gives the points that a name means. */
export function pointChoices({ lab, set }, request, undone, begun, classes = null) {
  const presets = lab.opening.presets.filter(one => !classes || one.classes === classes).map(one => [one.name, one.title]);
  const options = presets.some(([name]) => name === set.preset) ? presets : [["", "Own points"], ...presets];
  const undo = h("button", { class: "plain", type: "button", "aria-label": "Undo", disabled: !set.undoable, click: () => { if (set.undo()) undone(); } }, icon("undo"));
  return [undo, select("Points to start from", options, set.preset ?? "", async name => {
    if (!name) return;
    const { X, y, preset } = await lab.source.ask(request, { points: name });
    set.replace(X, y, preset);
    begun();
  })];
}
