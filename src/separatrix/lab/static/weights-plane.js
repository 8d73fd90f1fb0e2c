// The plane beside the error surfaces: points to drag, and the line of w, which is moved by itself and turned by its normal.
import { s } from "./dom.js";
import { boundaries, counted, figureOf } from "./parts.js";
import { Stage } from "./stage.js";

const NORMAL = 54; // The length of the normal in pixels.

export class LinePlane {
  constructor(page) {
    let drag = null; // {row}, or {about} for the line
    const up = () => { drag = null; page.choices(); };
    const svg = s("svg", {
      class: "stage", role: "img", pointerup: up, pointercancel: up,
      pointerdown: event => {
        const turning = stage.hit(event, this.tip, 14) === 0, row = turning ? -1 : stage.hit(event, page.set.X, 14);
        drag = row >= 0 ? { row } : { about: turning ? page.answer.foot : null };
        svg.setPointerCapture(event.pointerId);
        page.set.keep();
      },
      pointermove: event => {
        if (!drag) return;
        const to = stage.at(event), { row, about } = drag;
        page.forget();
        if (row >= 0) page.set.move(row, to);
        page.ask(row >= 0 ? {} : { drag: { to, about } });
      },
    });
    const element = figureOf(svg), stage = new Stage(element, svg, () => 0.72, () => { if (page.answer) page.ask(); });
    Object.assign(this, { page, svg, element, stage });
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
      ...answer.wrong.map(i => s("circle", { class: "ring", r: 9.5, transform: stage.place(X[i]) })), this.marks, ...made);
    svg.setAttribute("aria-label", answer.label);
    counted(svg);
  }
}
