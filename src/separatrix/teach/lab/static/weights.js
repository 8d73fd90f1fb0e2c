// The page Weight space: two error surfaces over two of the weights, and the line of the same weights in the plane.
import { h, segmented, select, short } from "./dom.js";
import * as link from "./link.js";
import { clamp, codeBlock, codeSection, section, still, tableParts, tableRow } from "./parts.js";
import { pointChoices } from "./point-choices.js";
import { PointSet } from "./pointset.js";
import { pointTable } from "./table.js";
import { LinePlane } from "./weights-plane.js";
import { NAMES, Surface, ZOOM } from "./weights-surface.js";

const RUN = 3000; // The milliseconds that a run takes, unless it is very short or long.
const rounded = value => Math.round(value * 100) / 100;

class Weights {
  constructor(root, lab) { Object.assign(this, { root, lab, path: null, k: 0, timer: null, key: "" }); }

  get w() { return this.set.extra; }
  set w(value) { this.set.extra = value; }
  get stage() { return this.surfaces[this.chosen.on].stage; }

  async start(params) {
    this.known = await this.lab.source.ask("weights.start", { points: link.toPoints(params, "separable"), link: Object.fromEntries(params) });
    const { X, y, preset, w, box, choices, k, notice, unknown } = this.known;
    Object.assign(this, { set: new PointSet(X, y, preset, w), chosen: choices, box });
    this.build();
    this.plane.stage.resize();
    this.plane.stage.show(X);
    await this.ask();
    if (k !== null) await this.run(false, k);
    if (notice) this.lab.notice(notice);
    this.lab.unknown(unknown);
    return this;
  }

  build() {
    const part = (kind, name = "div", ...children) => h(name, { class: kind }, ...children);
    Object.assign(this, { undo: part(""), points: part("", "span"), tabs: part("tabs"), status: part("status", "p"), numbers: part("votes", "table"), code: codeBlock() });
    this.fields = NAMES.map((name, j) => h("input", { type: "number", step: "0.1", "aria-label": name, change: ({ target }) => {
      this.set.keep();
      this.w = this.w.with(j, rounded(target.valueAsNumber || 0));
      this.moved().then(() => this.lab.say(this.answer.errors[this.chosen.on].label));
    } }));
    this.surfaces = [0, 1].map(k => new Surface(this, k));
    this.plane = new LinePlane(this);
    const [axes, method, penalty] = this.known.controls.map(({ name, label, options }) => select(label, options, String(this.chosen[name] ?? ""), value => this.choose({ [name]: value }, name === "axes")));
    const button = (id, label, text, click) => h("button", { id: `weights-${id}`, "aria-label": label, click }, text), zoom = by => () => this.ask({ zoom: by });
    this.play = h("button", { class: "solid", id: "weights-run", click: () => this.run() });
    this.back = button("reset", "Back to the start of the run", "Reset", () => this.reset());
    const bar = part("bar", "div", this.play, this.back, this.undo, button("out", "Zoom out", "−", zoom(ZOOM)), button("in", "Zoom in", "+", zoom(1 / ZOOM)), button("fit", "Show w and the minima", "Fit", () => this.fit()));
    const shown = h("output", {}, String(this.chosen.eta)), eta = h("input", { type: "range", min: -3, max: 2, step: 0.1, "aria-label": "Step size η", "aria-valuetext": this.chosen.eta, input: () => {
      shown.textContent = eta.ariaValueText = this.chosen.eta = Number((10 ** eta.valueAsNumber).toPrecision(2));
      this.again();
    } });
    eta.value = Math.log10(this.chosen.eta);
    Object.assign(this, { method, eta });
    this.root.append(
      this.lab.lead("Which way is down?", ["Drag ", h("b", { class: "math" }, "w"), " downhill. Where is there no slope to follow?"], "V4 and V5 in the tour", axes, this.points),
      part("columns weights", "div", h("div", {}, this.tabs, part("pair", "div", this.surfaces.map(one => one.element)), bar, part("choices", "div", method, h("label", { class: "slide eta" }, part("math", "span", "η"), eta, shown), penalty), this.status),
        part("rail", "aside", h("section", {}, this.plane.element, pointTable(() => this.set, () => this.moved())),
          section("At this w", part("row fields", "div", NAMES.map((name, j) => part("row", "label", part("math", "span", name), this.fields[j]))), this.numbers),
          codeSection(this.code))));
    this.themes = matchMedia("(prefers-color-scheme: dark)");
    this.repaint = () => this.surfaces.forEach(one => one.paint());
    this.themes.addEventListener("change", this.repaint);
    this.choices();
  }

  /** What can be chosen now. An element that is made again keeps the focus. */
  choices() {
    const { chosen, known, method, eta } = this, focused = document.activeElement.ariaLabel;
    const [undo, points] = pointChoices(this, "weights.start", () => this.moved(), () => { this.plane.stage.show(this.set.X); this.box = null; this.moved(); }, 2);
    this.undo.replaceChildren(undo);
    this.points.replaceChildren(points);
    this.tabs.replaceChildren(segmented("Surface", chosen.losses.map((name, k) => ({ value: k, label: name })), chosen.on, k => this.activate(k)));
    for (const option of method.options) option.hidden = !this.surfaces.some(one => one.bands?.methods.includes(option.value) ?? true);
    eta.disabled = !known.with_eta.includes(chosen.method);
    this.back.disabled = !this.path;
    this.activate(chosen.on);
    if (focused && document.activeElement === document.body) this.root.querySelector(`[aria-label="${focused}"]`)?.focus();
  }

  /** Take a choice, and compute again what depends on it. */
  choose(changes, fit = false) {
    Object.assign(this.chosen, changes);
    if (fit) this.box = null;
    this.choices();
    this.again();
  }

  /** Runs go downhill on surface k; it is the one that a phone and a saved picture show. */
  activate(k) {
    this.chosen.on = k;
    this.surfaces.forEach((one, j) => { one.element.classList.toggle("active", j === k); one.svg.id = j === k ? "stage" : ""; });
    this.tabs.querySelectorAll("button").forEach((one, j) => one.setAttribute("aria-pressed", String(j === k)));
    this.play.replaceChildren(this.timer ? "Stop" : "Run", h("span", { class: "wide-only" }, this.timer ? "" : `on ${this.chosen.losses[k]}`));
  }

  /** Points or w have changed by hand, so the path of a run is no longer true. */
  moved() {
    this.forget();
    this.choices();
    return this.ask();
  }

  forget() {
    this.stop();
    this.path = null;
  }

  /** Put w at a place of the surfaces. */
  place(at) {
    this.forget();
    this.w = this.w.map((old, j) => { const i = this.answer.axes.indexOf(j); return i < 0 ? old : rounded(at[i]); });
    return this.ask();
  }

  fit() { this.box = null; return this.ask(); }

  /** Go downhill from w; without growing, from the start of the path that is shown, to step `to`. */
  run(growing = true, to = Infinity) {
    if (this.timer) return this.stop();
    const start = (!growing && this.path?.start) || this.w;
    return this.lab.follow(this, "weights.run", { ...this.payload, w: start }, ({ W, status, box }) => {
      if (growing) this.set.keep();
      const last = W.length - 1;
      Object.assign(this, { path: { W, status, start, ran: this.chosen.on }, box });
      if (growing && last && !still()) this.timer = setInterval(() => (this.k < last ? this.go(this.k + 1) : this.ended(last)), clamp(RUN / last, 30, 200));
      this.choices();
      return this.timer ? this.go(0) : this.ended(Math.min(last, to));
    });
  }

  go(k) {
    this.k = k;
    this.w = this.path.W[k];
    return this.ask();
  }

  ended(k) {
    this.stop();
    return this.go(k).then(() => this.lab.say(`${this.status.textContent} ${this.answer.errors[this.chosen.on].label}`));
  }

  /** The same run again, after a choice has changed. */
  again() {
    this.stop();
    return this.path ? this.run(false) : this.ask();
  }

  stop() {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
    this.choices();
    this.draw();
  }

  reset() {
    if (!this.path) return null;
    this.w = this.path.start;
    return this.moved();
  }

  get payload() { const { chosen, w, box } = this; return { ...this.set.sent, ...chosen, w, box }; }

  /** The numbers at w; the surfaces only if something has changed that they depend on. */
  ask(more = {}) {
    const { path, k } = this;
    return this.lab.follow(this, "weights.at", { ...this.payload, plane: this.plane.stage.box, start: path?.start, ran: path?.ran, k, ...more }, answer => {
      Object.assign(this, { answer, box: answer.box });
      if (more.drag) this.w = answer.w;
      this.draw();
      this.shape();
    });
  }

  shape() {
    const { X, y, losses, C, w, box } = this.payload, { axes } = this.answer, key = JSON.stringify([X, y, losses, axes, C, w[3 - axes[0] - axes[1]], box]);
    if (key === this.key) return;
    this.key = key;
    this.lab.follow(this, "weights.surfaces", this.payload, ({ surfaces }) => {
      this.surfaces.forEach((one, j) => { one.bands = surfaces[j]; one.paint(); one.draw(); });
      this.choices();
    });
  }

  draw() {
    const { answer, path, k, w } = this;
    for (const one of [...this.surfaces, this.plane]) one.draw();
    this.fields.forEach((one, j) => { if (one !== document.activeElement) one.value = Number(w[j].toFixed(3)); });
    this.numbers.replaceChildren(...tableParts([`${answer.wrong.length} of ${this.set.X.length} wrong`, ...this.chosen.losses],
      answer.facts.map(([name, values]) => tableRow({ "data-fact": name }, h("span", { class: "math" }, name), values.map(short)))));
    this.status.textContent = path ? `Step ${k} of ${path.W.length - 1}. ${this.timer ? "" : path.status}` : "";
    this.code.textContent = answer.python;
  }

  params() { return this.answer ? { ...this.answer.link, ...link.fromPoints(this.answer.points) } : {}; }

  leave() {
    this.forget();
    this.themes.removeEventListener("change", this.repaint);
    for (const one of [this.plane, ...this.surfaces]) one.stage.leave();
  }
}

export const mount = (root, lab, params) => new Weights(root, lab).start(params);
