// The button that undoes, and the points to start from: the same on every page with points.
import { h, icon, select } from "./dom.js";

export const undoButton = (enabled, click) => h("button", { class: "plain", "aria-label": "Undo", disabled: !enabled, click }, icon("undo"));

/** A select of the presets, and of "Own points" where the points are none of them. */
export function presetSelect(presets, current, choose) {
  const known = presets.map(one => [one.name, one.title]), own = known.some(([name]) => name === current) ? [] : [["", "Own points"]];
  return select("Points to start from", [...own, ...known], current ?? "", name => name && choose(name));
}

/** Both. `undone()` and `begun()` are called after `page.set` has changed; `request` gives the points that a name means. */
export function pointChoices({ lab, set }, request, undone, begun, classes = null) {
  const presets = lab.opening.presets.filter(one => !classes || one.classes === classes);
  return [undoButton(set.undoable, () => { if (set.undo()) undone(); }), presetSelect(presets, set.preset, async name => {
    const { X, y, preset } = await lab.source.ask(request, { points: name });
    set.replace(X, y, preset);
    begun();
  })];
}
