// The page Losses: losses by margin with a tangent, and the boundary that each of them gives to points on a line.
import { fixed, h, s } from "./dom.js";
import { Stage } from "./stage.js";

const FIRST = ["logistic", "squared", "perceptron", "hinge", "zero-one"];
const GRAPH = [-3.2, 5.2, -0.35, 4.4];
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

class Losses {
  constructor(root, lab) { Object.assign(this, { root, lab, m: 0.5, row: 8 }); }

  async start(params) {
    const known = await this.lab.source.ask("losses.names", {});
    this.names = known.losses;
    this.y = known.y;
    const asked = params.get("l")?.split(",").filter(name => this.names.includes(name));
    this.chosen = new Set(asked?.length ? asked : FIRST.filter(name => this.names.includes(name)));
    const places = params.get("x")?.split(",").map(Number);
    this.x = places?.length === known.x.length && places.every(Number.isFinite) ? places : known.x.slice();
    this.first = known.x;
    this.m = clamp(Number(params.get("at") ?? 0.5) || 0, -3, 5);
    this.build();
    await this.ask();
    return this;
  }

  build() {
    this.svg = s("svg", { id: "stage", class: "stage", role: "img" });
    this.line = s("svg", { class: "stage", role: "application", tabindex: "0", "aria-roledescription": "line with points that can be moved" });
    const figure = h("figure", { class: "plane" }, this.svg), strip = h("figure", { class: "plane strip" }, this.line);
    const slider = h("input", { type: "range", min: -3, max: 5, step: 0.05, "aria-label": "Margin m", input: event => { this.m = event.target.valueAsNumber; this.ask(); } });
    slider.value = this.m;
    this.slider = slider;
    this.out = h("output");
    const checks = this.names.map(name => h("label", {}, h("input", { type: "checkbox", checked: this.chosen.has(name), change: event => { this.chosen[event.target.checked ? "add" : "delete"](name); this.ask(); } }), name));
    this.table = h("div");
    this.code = h("pre", { tabindex: "0", "aria-label": "The same in Python" });
    const again = h("button", { type: "button", click: () => { this.x = this.first.slice(); this.ask(); } }, "Put the points back");
    this.root.append(
      this.lab.lead("Which loss still grows?", ["Pull the point at ", h("b", {}, "8"), " out to 30: it only gets more right. Whose boundary follows it?"], "V3 and V6 in the tour", again),
      h("div", { class: "columns" },
        h("div", {}, figure, h("label", { class: "slide" }, h("span", { class: "math" }, "m"), slider, this.out), strip),
        h("aside", { class: "rail", "aria-label": "Losses and numbers" },
          h("section", {}, h("h2", {}, "Losses"), h("div", { class: "checks" }, checks)),
          h("section", {}, h("h2", {}, "At this margin"), this.table),
          h("section", {}, h("h2", {}, "The same in Python"), this.code))));
    this.stage = new Stage(figure, this.svg, width => width < 520 ? 300 / 390 : 420 / 872, () => this.answer && this.draw());
    this.stage.box = GRAPH;
    this.strip = new Stage(strip, this.line, width => width < 520 ? 150 / 390 : 150 / 872, () => this.answer && this.draw());
    this.strip.box = [-6, 32, -1, 1];
    this.pointer();
  }

  pointer() {
    let held = -1;
    const { strip, line } = this, all = () => this.x.map(x => [x, 0]);
    line.addEventListener("pointerdown", event => { held = strip.hit(event, all()); if (held >= 0) { this.row = held; line.setPointerCapture(event.pointerId); } });
    line.addEventListener("pointermove", event => { if (held >= 0) { this.x[held] = clamp(Math.round(strip.at(event)[0] * 100) / 100, -6, 32); this.ask(); } });
    for (const name of ["pointerup", "pointercancel"]) line.addEventListener(name, () => { held = -1; });
    line.addEventListener("keydown", event => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key] * (event.shiftKey ? 1 : 0.1);
      if (by) this.x[this.row] = clamp(Math.round((this.x[this.row] + by) * 100) / 100, -6, 32);
      else if (event.key === "n" || event.key === "p") this.row = (this.row + (event.key === "n" ? 1 : this.x.length - 1)) % this.x.length;
      else return;
      event.preventDefault();
      this.ask().then(() => this.lab.say(`Point ${this.row} at ${fixed(this.x[this.row])}. ${this.sentence()}`));
    });
    const { svg, stage } = this;
    const drag = event => { if (event.buttons) { this.m = clamp(Math.round(stage.at(event)[0] * 20) / 20, -3, 5); this.slider.value = this.m; this.ask(); } };
    svg.addEventListener("pointerdown", drag);
    svg.addEventListener("pointermove", drag);
  }

  ask() {
    return this.lab.latest("losses.show", { losses: [...this.chosen], m: this.m, x: this.x }, answer => { this.answer = answer; this.draw(); this.lab.changed(); });
  }

  sentence() { return this.answer.losses.filter(one => one.boundary !== null).map(one => `${one.name} divides at ${fixed(one.boundary)}`).join(", "); }

  draw() {
    const { answer, stage, strip, m } = this, [, , , top] = GRAPH, taken = [];
    const curves = answer.losses.flatMap((one, k) => {
      const points = answer.margins.map((x, j) => [x, one.values[j]]).filter(([, v]) => v <= top + 0.4);
      const tangent = [-0.8, 0.8].map(d => [m + d, one.value + d * one.slope]);
      const [x, y] = points[0] ?? [0, 0];
      let py = clamp(stage.y(y) + 16, 16, stage.height - 30);
      while (taken.some(other => Math.abs(other - py) < 16)) py += 16;
      taken.push(py);
      const shown = one.value <= top;
      return [s("path", { class: `boundary line-${k % 5}`, d: stage.path(points) }), shown && s("path", { class: "tangent", d: stage.path(tangent) }),
        shown && s("circle", { class: "dot", r: 5, cx: stage.x(m), cy: stage.y(one.value) }),
        stage.text(stage.x(Math.max(x, -3)) + 10, py, one.name, "label")];
    }).filter(Boolean);
    this.svg.replaceChildren(...stage.axes(["m", "ℓ"]), s("path", { class: "now", d: `M${stage.x(m)},0V${stage.height}` }), ...curves);
    this.svg.setAttribute("aria-label", `Losses at margin ${fixed(m)}: ${answer.losses.map(one => `${one.name} ${fixed(one.value, 3)}`).join(", ")}.`);
    const middle = strip.y(0);
    this.line.replaceChildren(
      s("path", { class: "axis", d: `M0,${middle}H${strip.width}` }),
      ...[-5, 0, 5, 10, 15, 20, 25, 30].flatMap(v => [s("path", { class: "grid", d: `M${strip.x(v)},0V${strip.height}` }), strip.text(strip.x(v) + 4, strip.height - 7, fixed(v, 0), "tick")]),
      ...answer.losses.flatMap((one, k) => one.boundary === null || Math.abs(one.boundary) > 32 ? [] : [
        s("path", { class: `boundary line-${k % 5}`, d: `M${strip.x(one.boundary)},8V${strip.height - 24}` })]),
      ...strip.marks(this.x.map(x => [x, 0]), this.y), s("circle", { class: "selected", r: 15, transform: strip.place([this.x[this.row], 0]) }));
    this.line.setAttribute("aria-label", `Line with ${this.x.length} points. ${this.sentence()}.`);
    this.out.textContent = fixed(m);
    const head = ["value", "slope", "curvature", "boundary"].map(text => h("th", { scope: "col" }, text));
    const cell = value => h("td", { class: value === null ? "none" : null }, fixed(value, 3));
    this.table.replaceChildren(h("table", { class: "of-losses" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "hidden" }, "Loss")), head)),
      h("tbody", {}, answer.losses.map(one => h("tr", { "data-loss": one.name }, h("th", { scope: "row" }, one.name), cell(one.value), cell(one.slope), cell(one.curvature), cell(one.boundary))))));
    this.code.textContent = answer.python;
  }

  params() {
    const moved = this.x.some((x, k) => x !== this.first[k]);
    return { l: [...this.chosen].join(","), at: this.m, x: moved ? this.x.join(",") : null };
  }

  python() { return `${this.answer.python}\n`; }
  leave() { this.stage.leave(); this.strip.leave(); }
}

export const mount = (root, lab, params) => new Losses(root, lab).start(params);
