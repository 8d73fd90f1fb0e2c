// The plane beside the error surfaces: points to drag or to move by keys, and the line of w, which is moved by itself and
// turned by its normal.
import { s } from "./dom.js";
import { movable } from "./limits.js";
import { boundaries, counted, figureOf } from "./parts.js";
import { planeKeys } from "./plane-keys.js";
import { Stage } from "./stage.js";

const NORMAL = 54; // The length of the normal in pixels.

export class LinePlane {
  row = -1; // of the point that keys move: the last one under the pointer

  constructor(page) {
    let drag = null; // {row}, or {about} for the line
    const up = () => { drag = null; page.choices(); };
    const svg = s("svg", {
      class: "stage", role: "application", tabindex: "0", "aria-roledescription": "plane with points that can be moved", pointerup: up, pointercancel: up,
      focus: () => { if (this.row < 0 && svg.matches(":focus-visible")) this.choose(0); },
      pointerdown: event => {
        const turning = stage.hit(event, this.tip, 14) === 0, row = turning ? -1 : stage.hit(event, page.set.X, 14);
        drag = row >= 0 ? { row } : { about: turning ? page.answer.foot : null };
        if (row >= 0) this.row = row;
        svg.setPointerCapture(event.pointerId);
        page.set.keep();
      },
      pointermove: event => {
        if (!drag) return this.choose(stage.hit(event, page.set.X, 14));
        const to = stage.at(event), { row, about } = drag;
        page.forget();
        if (row >= 0) page.set.move(row, to);
        page.ask(row >= 0 ? {} : { drag: { to, about } });
      },
    });
    const element = figureOf(svg), stage = new Stage(element, svg, () => 0.72, () => { if (page.answer) page.ask(); });
    Object.assign(this, { page, svg, element, stage });
    planeKeys(this);
  }

  get set() { return this.page.set; }
  get lab() { return this.page.lab; }

  choose(row) {
    if (row < 0 || row === this.row) return;
    this.row = row;
    this.draw();
  }

  // What keys do, see plane-keys.js. Choosing a point leaves a run as it is; changing one ends it.
  fit() { return this.page.ask(); }
  choices() { this.page.choices(); }
  sentence() { return this.page.answer.label; }
  undo() { if (this.set.undo()) this.page.moved(); }

  place(i, at) {
    if (!movable(i)) return;
    this.page.forget();
    this.set.move(i, at);
  }

  add(at, k) {
    if (k > 1) return;
    this.row = this.set.add(at, k);
    this.page.moved();
  }

  erase(i) {
    this.set.erase(i);
    this.row = Math.min(i, this.set.X.length - 1);
    this.page.moved();
  }

  draw() {
    const { stage, svg, page } = this, { answer, w } = page, { X, y } = page.set, { foot } = answer, made = [];
    this.tip = [];
    if (foot) {
      const long = NORMAL * (stage.box[1] - stage.box[0]) / stage.width / Math.hypot(w[1], w[2]), end = share => [foot[0] + share * long * w[1], foot[1] + share * long * w[2]], at = ([a, b]) => [stage.x(a), stage.y(b)];
      this.tip = [end(1)];
      made.push(stage.arrow(...at(foot), ...at(end(1)), "vector"), s("text", { class: "label math", "text-anchor": "middle", dy: 5, transform: stage.place(end(1.25)) }, "w"));
    }
    const points = JSON.stringify([X, y, stage.box]);
    if (points !== this.points) Object.assign(this, { points, marks: s("g", {}, stage.marks(X, y)) }); // 500 marks are made only when they move.
    svg.replaceChildren(...answer.regions.map(one => stage.region(one)), ...stage.axes(), ...boundaries(stage, answer.lines),
      ...answer.wrong.filter(i => X[i]).map(i => s("circle", { class: "ring", r: 9.5, transform: stage.place(X[i]) })), ...(X[this.row] ? [s("circle", { class: "selected", r: 13, transform: stage.place(X[this.row]) })] : []), this.marks, ...made);
    svg.setAttribute("aria-label", answer.label);
    counted(svg);
  }
}
