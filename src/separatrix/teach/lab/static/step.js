// The page Step: the updates of a fit one by one, with their arithmetic and three curves on one playhead.
import { fixed, h, s, segmented, select, solid } from "./dom.js";
import * as link from "./link.js";
import { clamp, figureOf, layersOf, mainPicture, pointsOf, still } from "./parts.js";
import { arithmetic } from "./step-arithmetic.js";
import { curveFigure } from "./step-curves.js";
import { Stage } from "./stage.js";

const FIRST = "separable"; // the points of a link that names none
const far = (p, q) => Math.hypot(p[0] - q[0], p[1] - q[1]);
const MILLISECONDS = 160; // The line turns in this time.
const ICONS = { first: "M3 3h2v10H3zM13 3v10L6 8z", back: "M11 3v10L4 8z", play: "M4 2.5v11L13 8z", pause: "M4 3h3v10H4zM9 3h3v10H9z", next: "M5 3v10l7-5z", last: "M11 3h2v10h-2zM3 3v10l7-5z" };
const NAMES = { first: "First step", back: "One step back", next: "One step on", last: "Last step" };

class StepPage {
  constructor(root, lab) { Object.assign(this, { root, lab, k: 0, speed: 4, timer: null, run: null }); }

  async start(params) {
    const { methods, descent } = await this.lab.source.ask("step.methods", {}), settings = Object.keys(Object.assign({}, ...Object.values(descent)));
    Object.assign(this, { methods, descents: descent, descent: {} });
    const { models, unknown } = link.toModels(params, this.lab.known, 1, "perceptron", ["k", ...settings]);
    const [asked] = models, stepped = methods.includes(asked?.name);
    this.model = stepped ? asked : { name: methods[0], settings: {}, base: null };
    if (asked && !stepped) unknown.push(asked.name);
    for (const name of settings) {
      const given = link.reader(params, unknown)(name, null, link.number(1e-4, 1e3));
      if (given !== null) this.descent[name] = given;
    }
    // A step beyond the end means the last one, since a link cannot know how long the run is.
    const k = Math.round(link.reader(params, unknown)("k", 4, link.number(0, 1e9))), given = this.points = link.toPoints(params, FIRST);
    this.build();
    await this.fit(k);
    if (!this.run && given !== FIRST) await this.retry(given, k);
    this.lab.unknown(unknown);
    return this;
  }

  /** Show the first preset if the given points cannot be used. If that fails, too, the settings are wrong, so the points of the link stay. */
  async retry(given, k) {
    Object.assign(this, { points: FIRST, said: null });
    await this.fit(k);
    if (this.run) this.lab.notice("The page shows the first preset instead.");
    else this.points = given;
    this.choices();
  }

  build() {
    this.svg = mainPicture("application", "plane with a boundary that turns");
    const figure = figureOf(this.svg);
    this.layers = layersOf(this.svg, "ground", "axes", "lines", "under", "marks", "over");
    this.choice = h("div", { class: "choices" });
    this.card = h("section", { class: "card", "aria-label": "The arithmetic" });
    this.curves = [0, 1, 2].map(curveFigure);
    const try_ = ["Step through the run with ", h("b", {}, "←"), " and ", h("b", {}, "→"), ". Does the number of wrong rows fall with every step?"];
    this.root.append(this.lab.lead("Every mistake turns the boundary", try_, "V1 and V2 in the tour", this.choice),
      h("div", { class: "columns step" }, figure, this.card), this.transport(), h("div", { class: "curves" }, this.curves.map(one => one.element)));
    this.stage = new Stage(figure, this.svg, width => width < 520 ? 302 / 390 : 450 / 630, () => this.run && this.fit(this.k));
    this.keys = event => this.key(event);
    document.addEventListener("keydown", this.keys);
    this.choices();
  }

  /** The learning rate and the batch size of the solver, if it is a method of descent. */
  get ofDescent() {
    const usual = this.descents[this.model.settings.solver] ?? {};
    return Object.fromEntries(Object.entries(usual).map(([name, value]) => [name, this.descent[name] ?? value]));
  }

  /** The method, its rule or solver, the size of its steps, and the points. */
  choices() {
    const info = this.lab.known.get(this.model.name), made = [];
    const chosen = name => { Object.assign(this.model, { name, settings: {} }); this.choices(); this.fit(0); };
    made.push(select("Method", this.methods.map(name => [name, this.lab.known.get(name).title]), this.model.name, chosen));
    for (const one of info.settings.filter(one => one.kind === "choice" && !one.words.includes(null) && one.words.length > 1)) {
      const now = this.model.settings[one.parameter] ?? one.default;
      const set = value => { this.set(one, value); this.choices(); };
      made.push(one.words.length <= 4 ? segmented(one.parameter, one.words.map(word => ({ value: word, label: word })), now, set)
        : select(one.parameter, one.words.map(word => [word, word]), now, set));
    }
    const eta = info.settings.find(one => one.parameter === "eta0");
    if (eta) made.push(learningRate(Number(this.model.settings.eta0 ?? eta.default), value => this.set(eta, value)));
    const descent = this.ofDescent, take = (name, value) => { this.descent[name] = value; this.fit(0); };
    if (descent.eta) made.push(learningRate(descent.eta, value => take("eta", value)));
    if (descent.batch_size) made.push(select("Rows per update", [...new Set([1, 2, 5, 10, descent.batch_size])].map(n => [String(n), n === 1 ? "1 row per update" : `${n} rows per update`]), String(descent.batch_size), value => take("batch_size", Number(value))));
    const presets = this.lab.opening.presets.filter(one => one.classes === 2).map(one => [one.name, one.title]);
    const own = this.points.split(";")[0];
    const options = presets.some(([name]) => name === this.points) ? presets : [[this.points, own.startsWith("~") ? "Own points" : `${own}, moved`], ...presets];
    made.push(select("Points", options, this.points, name => { this.points = name; this.fit(0); }));
    this.choice.replaceChildren(...made);
  }

  set(setting, value) {
    if (value === setting.default) delete this.model.settings[setting.parameter];
    else this.model.settings[setting.parameter] = value;
    this.fit(0);
  }

  transport() {
    const button = name => h("button", { id: `step-${name}`, "aria-label": NAMES[name], click: () => { this.stop(); this.go(name); } }, solid(ICONS[name]));
    this.buttons = Object.fromEntries(Object.keys(NAMES).map(name => [name, button(name)]));
    this.play = h("button", { class: "solid", id: "step-play", click: () => this.timer ? this.stop() : this.begin() });
    this.scrub = h("input", { type: "range", id: "step-scrub", min: 0, max: 1, "aria-label": "Step", input: event => { this.stop(); this.show(event.target.valueAsNumber, false); } });
    this.where = h("span", { class: "where" });
    const shown = h("output", {}, "4/s");
    const speed = h("input", { type: "range", min: 1, max: 20, value: 4, "aria-label": "Steps a second", input: event => {
      this.speed = event.target.valueAsNumber;
      shown.textContent = `${this.speed}/s`;
      if (this.timer) this.begin();
    } });
    this.playing(false);
    const { first, back, next, last } = this.buttons;
    return h("div", { class: "bar", role: "group", "aria-label": "The run" }, h("div", { class: "row transport" }, first, back, this.play, next, last), this.scrub, this.where, h("label", { class: "speed" }, "Speed", speed, shown));
  }

  playing(on) { this.play.replaceChildren(solid(ICONS[on ? "pause" : "play"]), on ? "Pause" : "Play"); }

  begin() {
    this.stop();
    if (this.k >= this.last) this.show(0);
    this.playing(true);
    this.timer = setInterval(() => (this.k >= this.last ? this.stop() : this.show(this.k + 1)), 1000 / this.speed);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.playing(false);
  }

  get last() { return this.run ? this.run.steps.length - 1 : 0; }

  go(name) { this.show({ first: 0, back: this.k - 1, next: this.k + 1, last: this.last }[name]); }

  key(event) {
    if (event.target.closest("input, select, .scroll") || event.ctrlKey || event.metaKey || event.altKey || !this.run) return;
    const name = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" }[event.key];
    if (name) { this.stop(); this.go(name); }
    else if (event.key === " " && !event.target.closest("button, summary, a")) this.timer ? this.stop() : this.begin();
    else return;
    event.preventDefault();
    if (!this.timer) this.lab.say(this.sentence());
  }

  fit(k) {
    this.stop();
    if (!this.run) this.stage.show([[-3.6, -2.4], [3.6, 2.4]]);
    return new Promise(resolve => this.lab.source.latest("step.run", { points: this.points, model: this.model, box: this.stage.box, descent: this.ofDescent }, (answer, error) => {
      const said = error?.message ?? (answer?.cut ? `The run is longer; the page shows its first ${answer.steps.length - 1} updates.` : null);
      if (said || this.said) this.lab.notice(said);
      this.said = said;
      if (!answer) return resolve();
      const first = !this.run || this.shownPoints !== this.points;
      this.run = answer;
      this.shownPoints = this.points;
      if (first) { this.stage.show(answer.X); resolve(this.fit(k)); return; }
      this.scrub.max = this.last;
      this.layers.marks.replaceChildren(...this.stage.marks(answer.X, answer.y));
      this.layers.axes.replaceChildren(...this.stage.axes());
      this.drawnLine = null;
      this.show(k, false);
      resolve();
    }));
  }

  /** Show the weights after k updates. */
  show(k, turning = true) {
    if (!this.run) return;
    this.k = clamp(k, 0, this.last);
    const step = this.run.steps[this.k], before = this.k ? this.run.steps[this.k - 1] : null;
    this.plane(step, before);
    this.turn(step, turning);
    arithmetic(this.card, this.run, step);
    this.curves.forEach((one, j) => one.show(this.run.curves[j], this.k));
    this.scrub.value = this.k;
    this.where.textContent = step.kind === "answer" ? "the answer" : `update ${step.number} of ${this.run.steps.at(-1).number}`;
    this.buttons.first.disabled = this.buttons.back.disabled = this.k === 0;
    this.buttons.next.disabled = this.buttons.last.disabled = this.k === this.last;
    this.svg.setAttribute("aria-label", `Plane with ${pointsOf(this.run.X)}. ${this.sentence()}`);
    this.svg.dataset.step = this.k;
    this.lab.changed();
  }

  sentence() {
    const step = this.run.steps[this.k], n = this.run.X.length;
    const what = step.kind === "answer" ? "The answer" : step.row === null ? `After update ${step.number}` : `Row ${step.row} was used`;
    return `${what}; now ${step.wrong.length} of ${n} wrong. Boundary ${fixed(step.w[0])} x₁ + ${fixed(step.w[1])} x₂ + ${fixed(step.b)} = 0.`;
  }

  plane(step, before) {
    const { stage, layers, run } = this;
    layers.ground.replaceChildren(...step.regions.map(one => stage.region(one)));
    const halos = step.rows.map(i => s("circle", { class: "halo", r: stage.small ? 13 : 17, transform: stage.place(run.X[i]) }));
    const rings = step.wrong.map(i => s("circle", { class: "ring", r: stage.small ? 9.5 : 11.5, transform: stage.place(run.X[i]) }));
    layers.under.replaceChildren(...halos, ...rings);
    layers.over.replaceChildren(...this.vectors(step), ...named(stage, step.lines[0], "now", true), ...named(stage, before?.lines[0], "before", false));
    this.old = before?.lines[0];
  }

  /** w before, what was added, and w after, from the origin and to one scale. */
  vectors(step) {
    if (step.kind !== "update") return [];
    const { stage, run } = this, longest = Math.max(...run.steps.map(one => Math.hypot(...one.w))), made = [];
    if (!(longest > 0)) return [];
    const unit = 0.36 * stage.height / longest, o = [stage.x(0), stage.y(0)], tip = w => [o[0] + unit * w[0], o[1] - unit * w[1]];
    const a = tip(step.w_before), b = tip(step.w);
    if (far(o, a) > 4) made.push(stage.arrow(...o, ...a, "vector was"));
    if (far(a, b) > 1) made.push(stage.arrow(...a, ...b, "vector added"));
    if (far(o, b) > 4) made.push(stage.arrow(...o, ...b, "vector"));
    const side = b[0] >= o[0] ? 1 : -1;
    made.push(stage.text(b[0] + 10 * side, b[1] + (b[1] > o[1] ? 15 : -5), "w", "label math", side > 0 ? "start" : "end"));
    return made;
  }

  /** Turn the line to its new place. */
  turn(step, turning) {
    cancelAnimationFrame(this.frame);
    const { stage, layers } = this, from = this.drawnLine, to = step.lines[0];
    const draw = line => layers.lines.replaceChildren(
      ...(this.old ? [s("path", { class: "before", d: stage.path(this.old) })] : []),
      ...(line ? [s("path", { class: "boundary line-0", d: stage.path(line) })] : []));
    this.drawnLine = to;
    if (!turning || !from || !to || still() || this.speed > 6 && this.timer) return draw(to);
    const start = far(from[0], to[0]) + far(from[1], to[1]) <= far(from[0], to[1]) + far(from[1], to[0]) ? from : [from[1], from[0]];
    const begun = performance.now();
    const move = now => {
      const u = Math.min(1, (now - begun) / MILLISECONDS), e = 1 - (1 - u) ** 3;
      draw(to.map((p, j) => p.map((v, i) => start[j][i] + e * (v - start[j][i]))));
      if (u < 1) this.frame = requestAnimationFrame(move);
    };
    this.frame = requestAnimationFrame(move);
  }

  params() { return { ...link.fromModels([this.model]), ...this.ofDescent, ...link.fromPoints(this.points), k: this.k }; }
  python() { return `${this.run.python}\nprint(run[${this.k}])\n`; }

  leave() {
    this.stop();
    document.removeEventListener("keydown", this.keys);
  }
}

/** A slider of η. */
function learningRate(now, chosen) {
  const shown = h("output", {}, String(now));
  const input = h("input", { type: "range", min: -2, max: 1, step: 0.1, "aria-label": "Learning rate η", change: event => {
    const value = Number((10 ** event.target.valueAsNumber).toPrecision(2));
    shown.textContent = String(value);
    chosen(value);
  } });
  input.value = Math.log10(now);
  return h("label", { class: "slide eta" }, h("span", { class: "math" }, "η"), input, shown);
}

/** A name at the upper or lower end of a line. */
function named(stage, line, words, upper) {
  if (!line) return [];
  const [x, y] = line.reduce((a, b) => (upper === b[1] > a[1] ? b : a));
  const px = clamp(stage.x(x), 44, stage.width - 54), py = clamp(stage.y(y) + (upper ? 20 : -10), 20, stage.height - 26);
  return [stage.text(px, py, words, upper ? "label" : "label soft", "middle")];
}

export const mount = (root, lab, params) => new StepPage(root, lab).start(params);
