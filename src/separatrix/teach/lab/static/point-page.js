// What pages with points in the plane share: dragging, adding, erasing, undoing, presets, and the buttons for them.
import { h, segmented } from "./dom.js";
import { clamp, layersOf, mainPicture, released } from "./parts.js";
import { presetSelect, undoButton } from "./point-choices.js";
import { PointSet } from "./pointset.js";
import { MOVE, SHAPE_NAMES, badge } from "./stage.js";

const FEW = 100; // With more points, those that stay are one image while another is dragged.

/** A page has `stage` and `table`, and defines fit(), which asks for an answer, draw() and sentence(). */
export class PointPage {
  constructor(root, lab) {
    Object.assign(this, { root, lab, mode: "move", row: 0, drag: null, answer: null });
    this.tools = [h("div", { class: "wide-only" }), h("div", { class: "dock" })];
    this.presets = h("span");
  }

  /** The plane, with a layer for each kind of drawing. */
  layered() {
    this.svg = mainPicture("application", "plane with points that can be moved");
    this.layers = layersOf(this.svg, "ground", "axes", "lines", "under", "marks", "over");
  }

  /** Build the page and show the points of the link; those of the preset, and a notice, if it names none. */
  async begin(params, preset) {
    const begun = await this.lab.begun("plane.start", params, preset);
    this.set = new PointSet(begun.X, begun.y, begun.preset);
    this.drag = begun.drag;
    this.row = begun.drag ?? 0;
    this.build();
    this.stage.show(this.set.X);
    return this.changed();
  }

  /** What the pointer does, and the presets. */
  choices() {
    const next = clamp(Math.max(-1, ...this.set.y) + 2, 2, 6);
    for (const place of this.tools) {
      const items = [{ value: "move", label: "Move" }];
      for (let k = 0; k < next; k++) items.push({ value: k, label: [badge(k, 12), k < 2 && "Add"], name: `Add ${SHAPE_NAMES[k]}` });
      items.push({ value: "erase", label: "Erase" });
      place.replaceChildren(h("div", { class: "row" }, segmented("What the pointer does", items, this.mode, mode => { this.mode = mode; this.choices(); }), undoButton(this.set.undoable, () => this.undo())));
    }
    this.svg.dataset.mode = this.mode === "move" || this.mode === "erase" ? this.mode : "add";
    this.presets.replaceChildren(presetSelect(this.lab.opening.presets, this.set.preset, name => this.preset(name)));
  }

  async preset(name) {
    const begun = await this.lab.source.ask("plane.start", { points: name });
    this.set.replace(begun.X, begun.y, begun.preset);
    this.drag = begun.drag;
    this.row = begun.drag ?? 0;
    delete this.svg.dataset.touched;
    this.stage.show(this.set.X);
    this.changed();
  }

  /** The points have changed in number or in class: draw them, and ask for what belongs to them. */
  changed() {
    this.row = Math.max(0, Math.min(this.row, this.set.X.length - 1));
    this.points();
    this.choices();
    return this.fit();
  }

  undo() { if (this.set.undo()) this.changed(); }

  /** Draw the points; boundaries follow when their fit is there. */
  points() {
    this.held = null;
    this.layers.marks.replaceChildren(...this.stage.marks(this.set.X, this.set.y));
    this.table.refresh();
  }

  /** Begin to drag a point. */
  async hold(i) {
    const mark = this.held = this.layers.marks.children[i];
    if (!mark || this.set.X.length <= FEW) return;
    const others = await this.stage.others(this.set.X, this.set.y, i);
    if (this.held === mark) this.layers.marks.replaceChildren(others, mark);
    URL.revokeObjectURL(others.href.baseVal);
  }

  place(i, at) {
    this.set.move(i, at);
    const mark = this.held ?? this.layers.marks.children[i];
    if (mark) mark.setAttribute("d", this.stage.mark(this.set.X[i], this.set.y[i]));
    else this.points();
  }

  add(at, k) {
    this.row = this.set.add(at, k);
    this.changed();
  }

  erase(i) {
    this.set.erase(i);
    if (this.drag !== null) this.drag = this.drag === i ? null : this.drag - (this.drag > i);
    this.changed();
  }

  pointer() {
    let held = -1;
    const { svg, stage } = this;
    svg.addEventListener("pointerdown", event => {
      const hit = stage.hit(event, this.set.X);
      if (this.mode === "erase") { if (hit >= 0) this.erase(hit); return; }
      if (typeof this.mode === "number") return this.add(stage.at(event), this.mode);
      if (hit < 0) return;
      held = this.row = hit;
      this.set.keep();
      svg.setPointerCapture(event.pointerId);
      svg.dataset.held = "";
      if (hit === this.drag) svg.dataset.touched = "yes";
      this.hold(hit);
    });
    svg.addEventListener(MOVE, event => {
      if (held >= 0) { this.place(held, stage.at(event)); this.fit(); return; }
      const hit = stage.hit(event, this.set.X);
      if (hit >= 0 && hit !== this.row) { this.row = hit; this.fit(); }
    });
    released(svg, () => {
      if (held < 0) return;
      held = -1;
      delete svg.dataset.held;
      if (this.set.X.length > FEW) this.points();
      this.held = null;
      this.table.refresh();
      this.choices();
    });
  }
}
