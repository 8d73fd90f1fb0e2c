// The page Plane: points to drag, up to three models, and the numbers of the point under the pointer.
import { fixed, h, icon, s, segmented, select } from "./dom.js";
import * as link from "./link.js";
import { ModelCard } from "./models.js";
import { planeKeys } from "./plane-keys.js";
import { drawPlane } from "./plane-drawing.js";
import { PointSet } from "./pointset.js";
import { COLOURS, MOVE, SHAPE_NAMES, Stage, badge } from "./stage.js";
import { pointTable } from "./table.js";

const MOST_MODELS = 3;
const SHOWN = { mistakes: "Mistakes ringed", distance: "Distance", normal: "Normal w", margin: "Margin", probability: "P = 0.1 … 0.9", losses: "Losses" };
const FIRST = { mistakes: true, distance: true };

class Plane {
  constructor(root, lab) {
    Object.assign(this, { root, lab, mode: "move", row: 0, focus: 0, show: { ...FIRST }, answer: null });
  }

  async start(params) {
    const { lab } = this;
    const { models, unknown } = link.toModels(params, lab.known, MOST_MODELS, "least-squares,logistic", ["f"]);
    this.models = models.length ? models : [{ name: "logistic", settings: {}, base: null }];
    this.focus = Math.min(Number(params.get("f") ?? 0) || 0, this.models.length - 1);
    let begun;
    try {
      begun = await lab.source.ask("plane.start", { points: link.toPoints(params, "outlier") });
    } catch (error) {
      lab.notice(`${error.message} The page shows the first preset instead.`);
      begun = await lab.source.ask("plane.start", { points: "outlier" });
    }
    if (unknown.length) lab.notice(`The link has parts that this version does not know: ${unknown.join(", ")}.`);
    this.set = new PointSet(begun.X, begun.y, begun.preset);
    this.row = begun.drag ?? 0;
    this.drag = begun.drag;
    this.build();
    this.stage.show(this.set.X);
    this.points();
    await this.fit();
    return this;
  }

  build() {
    const { lab } = this;
    this.svg = s("svg", { id: "stage", class: "stage", role: "application", tabindex: "0", "aria-roledescription": "plane with points that can be moved" });
    const figure = h("figure", { class: "plane" }, this.svg);
    this.layers = Object.fromEntries(["ground", "axes", "lines", "under", "marks", "over"].map(name => [name, s("g", { class: name })]));
    this.svg.append(...Object.values(this.layers));
    this.card = h("div", { class: "under" });
    this.tools = [h("div", { class: "wide-only" }), h("div", { class: "dock" })];
    this.presets = h("span");
    this.rail = { models: h("div"), show: h("div"), python: h("pre", { tabindex: "0", "aria-label": "The same in Python" }), live: h("span", { class: "live" }) };
    this.table = pointTable(() => this.set, () => { this.points(); this.fit(); });
    const sentence = ["Drag the ", h("b", {}, "dotted"), " point away: it only gets more right, yet least squares follows it."];
    const copy = h("button", { type: "button", click: () => document.querySelector("#act-python").click() }, "Copy");
    this.root.append(
      lab.lead("Which line follows the outlier?", sentence, "V6 in the tour", this.tools[0], this.presets),
      h("div", { class: "columns" },
        h("div", {}, figure, this.table, this.card),
        h("aside", { class: "rail", "aria-label": "Models and settings" },
          h("section", {}, h("h2", {}, "Models"), this.rail.models),
          h("section", {}, h("h2", {}, "Show"), this.rail.show),
          h("section", {}, h("h2", {}, "The same in Python"), this.rail.python, h("div", { class: "row between" }, copy, this.rail.live)))),
      this.tools[1]);
    this.stage = new Stage(figure, this.svg, width => width < 520 ? 346 / 390 : 542 / 872, () => { if (this.answer) { this.points(); this.fit(); } });
    this.pointer();
    planeKeys(this);
    this.choices();
    this.cards();
  }

  /** What the pointer does, the presets, what is shown. */
  choices() {
    const next = Math.min(6, Math.max(2, Math.max(-1, ...this.set.y) + 2));
    for (const place of this.tools) {
      const items = [{ value: "move", label: "Move" }];
      for (let k = 0; k < next; k++) items.push({ value: k, label: [badge(k, 12), k < 2 && "Add"], name: `Add ${SHAPE_NAMES[k]}` });
      items.push({ value: "erase", label: "Erase" });
      const undo = h("button", { class: "plain", type: "button", "aria-label": "Undo", disabled: !this.set.undoable, click: () => this.undo() }, icon("undo"));
      place.replaceChildren(h("div", { class: "row" }, segmented("What the pointer does", items, this.mode, mode => { this.mode = mode; this.choices(); }), undo));
    }
    this.svg.dataset.mode = this.mode === "move" || this.mode === "erase" ? this.mode : "add";
    const known = this.lab.opening.presets.map(one => [one.name, one.title]);
    const options = known.some(([name]) => name === this.set.preset) ? known : [["", "Own points"], ...known];
    this.presets.replaceChildren(select("Points to start from", options, this.set.preset ?? "", name => this.preset(name)));
    const checks = Object.entries(SHOWN).map(([name, text]) => h("label", {}, h("input", { type: "checkbox", checked: Boolean(this.show[name]), change: event => { this.show[name] = event.target.checked; this.fit(); } }), text));
    const regions = this.models.map((one, k) => ({ value: k, label: this.lab.known.get(one.name).short }));
    this.rail.show.replaceChildren(
      h("div", { class: "row between" }, h("span", {}, "Regions of"), segmented("Whose regions", regions, this.focus, k => { this.focus = k; this.choices(); this.fit(); })),
      h("div", { class: "checks" }, checks));
  }

  cards() {
    const several = this.models.length > 1;
    this.modelCards = this.models.map((model, k) => new ModelCard(k, model, this.lab.known, () => { this.choices(); this.fit(); },
      several && (() => { this.models.splice(k, 1); this.focus = Math.min(this.focus, this.models.length - 1); this.cards(); this.choices(); this.fit(); })));
    const add = h("button", { type: "button", class: "wide", click: () => {
      const unused = [...this.lab.known.keys()].find(name => !this.models.some(one => one.name === name));
      this.models.push({ name: unused, settings: {}, base: null });
      this.cards(); this.choices(); this.fit();
    } }, "Add a model");
    this.rail.models.replaceChildren(...this.modelCards.map(one => one.element), this.models.length < MOST_MODELS ? add : "");
  }

  async preset(name) {
    if (!name) return;
    const begun = await this.lab.source.ask("plane.start", { points: name });
    this.set.replace(begun.X, begun.y, begun.preset);
    this.drag = begun.drag;
    this.row = begun.drag ?? 0;
    this.stage.show(this.set.X);
    this.points();
    this.choices();
    this.fit();
  }

  undo() {
    if (!this.set.undo()) return;
    this.row = Math.min(this.row, this.set.X.length - 1);
    this.points();
    this.choices();
    this.fit();
  }

  /** Draw the points; boundaries follow when their fit is there. */
  points() {
    this.layers.marks.replaceChildren(...this.stage.marks(this.set.X, this.set.y));
    this.table.refresh();
  }

  place(i, at) {
    this.set.move(i, at);
    const mark = this.layers.marks.children[i];
    if (mark) mark.setAttribute("d", this.stage.mark(this.set.X[i], this.set.y[i]));
    else this.points();
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
    });
    svg.addEventListener(MOVE, event => {
      if (held >= 0) { this.place(held, stage.at(event)); this.fit(); return; }
      const hit = stage.hit(event, this.set.X);
      if (hit >= 0 && hit !== this.row) { this.row = hit; this.fit(); }
    });
    const release = () => {
      if (held < 0) return;
      held = -1;
      delete svg.dataset.held;
      this.table.refresh();
      this.choices();
    };
    svg.addEventListener("pointerup", release);
    svg.addEventListener("pointercancel", release);
  }

  add(at, k) {
    this.row = this.set.add(at, k);
    this.points();
    this.choices();
    this.fit();
  }

  erase(i) {
    this.set.erase(i);
    if (this.drag !== null) this.drag = this.drag === i ? null : this.drag - (this.drag > i);
    this.row = Math.min(this.row, this.set.X.length - 1);
    this.points();
    this.choices();
    this.fit();
  }

  payload() {
    const { X, y, preset } = this.set;
    return { X, y, preset, models: this.models, box: this.stage.box, focus: this.focus, row: this.row, losses: Boolean(this.show.losses), probability: Boolean(this.show.probability) };
  }

  /** Ask for a fit of the present state; the picture follows. */
  fit() {
    return new Promise(resolve => this.lab.source.latest("plane.fit", this.payload(), (answer, error) => {
      if (answer) { this.answer = answer; this.draw(); this.lab.changed(); }
      if (error || this.failed) this.lab.notice(error?.message ?? null);
      this.failed = Boolean(error);
      resolve();
    }));
  }

  draw() {
    const { answer, set } = this;
    if (!answer) return;
    drawPlane(this);
    this.modelCards.forEach((card, k) => answer.models[k] && card.show(answer.models[k], set.X.length));
    this.point();
    this.rail.python.textContent = answer.python;
    const times = answer.models.filter(one => !one.error).map(one => one.milliseconds);
    this.rail.live.textContent = times.length ? `live, ${fixed(Math.max(...times), 0)} ms a fit` : "no fit";
    this.svg.setAttribute("aria-label", this.sentence());
    this.svg.dataset.drawn = String(Number(this.svg.dataset.drawn ?? 0) + 1);
  }

  sentence() {
    const said = this.answer.models.map((one, k) => `${this.lab.known.get(this.models[k]?.name)?.short} ${one.error ? "could not be fitted" : `gets ${one.wrong.length} wrong`}`);
    return `Plane with ${this.set.X.length} points; ${said.join(", ")}.`;
  }

  /** The card of the point that is selected. */
  point() {
    const at = this.set.X[this.row], k = this.set.y[this.row];
    if (!at) return void this.card.replaceChildren(h("p", {}, "There are no points. Choose what to add, then click into the plane."));
    const number = (value, digits) => value === null || value === undefined ? h("td", { class: "none" }, "none") : h("td", {}, fixed(value, digits));
    const lossy = this.answer.models.some(one => one.card?.loss !== undefined);
    const heads = ["score", "distance", `P(${COLOURS[k]})`, ...(lossy ? ["its loss"] : [])].map(text => h("th", { scope: "col" }, text));
    const rows = this.answer.models.map((one, j) => {
      const name = this.lab.known.get(this.models[j]?.name)?.title ?? "";
      const c = one.card;
      return h("tr", {}, h("th", { scope: "row" }, name), ...(c ? [number(c.score), number(c.distance), number(c.probability, 3), lossy && number(c.loss, 3)] : heads.map(() => number(null))));
    });
    this.card.replaceChildren(
      h("div", { class: "who" }, badge(k, 18), h("div", {}, `Row ${this.row}, ${COLOURS[k]}`, h("small", {}, `at (${fixed(at[0])}, ${fixed(at[1])})`))),
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "hidden" }, "Model")), heads)), h("tbody", {}, rows)));
  }

  params() {
    const shown = this.answer ? link.fromPoints(this.answer.points) : {};
    return { ...link.fromModels(this.models), ...shown, f: this.focus || null };
  }

  python() { return `${this.answer.python}\n`; }
  leave() { this.stage.leave(); }
}

export const mount = (root, lab, params) => new Plane(root, lab).start(params);
