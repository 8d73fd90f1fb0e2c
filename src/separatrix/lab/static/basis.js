// The page Basis: points in the plane beside their basis functions, and the proof whether these separate the classes.
import { fixed, h, icon, s, segmented, select, short } from "./dom.js";
import * as link from "./link.js";
import { ModelCard } from "./models.js";
import { planeKeys } from "./plane-keys.js";
import { PointPage } from "./point-page.js";
import { Stage } from "./stage.js";
import { pointTable } from "./table.js";

const KINDS = { linear: "linear", product: "with x₁x₂", quadratic: "quadratic", gaussian: "Gaussian" };
const MOST = { rows: 20, grid: 6 }; // functions drawn from the rows, and on each side of a grid
const WORDS = { separable: "Separable", inseparable: "Not separable", quasiseparable: "Not separable", doubtful: "In doubt", none: "Nothing to separate" };
const between = (value, low, high, other) => value >= low && value <= high ? value : other;

class BasisPage extends PointPage {
  tab = 0;

  async start(params) {
    const { models, unknown } = link.toModels(params, this.lab.known, 1, "perceptron", ["b", "k", "w", "s", "g", "a"]);
    this.model = models[0] ?? { name: "perceptron", settings: {}, base: null };
    const number = (key, low, high, other) => between(params.has(key) ? Number(params.get(key)) : NaN, low, high, other);
    const place = params.get("g") === "grid" ? "grid" : "rows";
    this.basis = { kind: params.get("b") in KINDS ? params.get("b") : "linear", place, centres: Math.round(number("k", 2, MOST[place], 4)), width: number("w", 0.1, 10, 1), seed: Math.round(number("s", 0, 9999, 0)) };
    this.axes = params.get("a")?.split(",").map(Number) ?? null;
    await this.load(params, "xor");
    if (unknown.length) this.lab.notice(`The link has parts that this version does not know: ${unknown.join(", ")}.`);
    this.build();
    this.stage.show(this.set.X);
    await this.changed();
    return this;
  }

  build() {
    this.svg = s("svg", { id: "stage", class: "stage", role: "application", tabindex: "0", "aria-roledescription": "plane with points that can be moved" });
    this.layers = Object.fromEntries(["ground", "axes", "lines", "under", "marks", "over"].map(name => [name, s("g", { class: name })]));
    this.svg.append(...Object.values(this.layers));
    const other = s("svg", { class: "stage", role: "img" }), figures = [this.svg, other].map(svg => h("figure", { class: "plane" }, svg));
    this.table = pointTable(() => this.set, () => this.changed());
    this.parts = Object.fromEntries(["kinds", "gauss", "tabs", "shown", "proof"].map(name => [name, h("div", { class: name })]));
    this.cut = h("p", { class: "note" });
    this.code = h("pre", { tabindex: "0", "aria-label": "The same in Python" });
    this.card = new ModelCard(0, this.model, this.lab.known, () => this.fit(), false);
    this.sides = [h("div", {}, h("h2", {}, "Input plane"), figures[0]), h("div", {}, this.parts.shown, figures[1], this.cut)];
    this.root.append(
      this.lab.lead("Which φ makes these points separable?", ["Add ", h("b", { class: "math" }, "x₁x₂"), " and XOR comes apart."], "V9 in the tour", this.tools[0], this.presets),
      h("div", { class: "columns" },
        h("div", {}, this.parts.kinds, this.parts.gauss, this.parts.tabs, h("div", { class: "pair spaces" }, this.sides), this.table, this.parts.proof),
        h("aside", { class: "rail", "aria-label": "Model and Python" },
          h("section", {}, h("h2", {}, "Model"), this.card.element),
          h("section", {}, h("h2", {}, "The same in Python"), this.code))),
      this.tools[1]);
    const aspect = width => width > 380 && width < 520 ? 346 / 390 : 1;
    this.stage = new Stage(figures[0], this.svg, aspect, () => { if (this.answer) { this.points(); this.fit(); } });
    this.side = new Stage(figures[1], other, aspect, () => this.answer && this.draw());
    this.pictures = [this.stage, this.side];
    other.addEventListener("pointermove", event => {
      const hit = this.side.hit(event, this.answer.features.points);
      if (hit >= 0 && hit !== this.row) { this.row = hit; this.draw(); }
    });
    this.pointer();
    planeKeys(this);
    this.kinds();
  }

  /** The basis, the settings of Gaussian functions, and on a narrow screen which of the two pictures is shown. */
  kinds() {
    const { basis, parts } = this, choose = made => { Object.assign(basis, made); this.axes = null; this.kinds(); this.fit(); };
    parts.kinds.replaceChildren(h("span", { class: "math" }, "φ(x)"), segmented("Basis functions", Object.entries(KINDS).map(([value, label]) => ({ value, label })), basis.kind, kind => choose({ kind })));
    parts.gauss.hidden = basis.kind !== "gaussian";
    const slide = (text, name, low, high, step) => {
      const shown = h("output", {}, String(basis[name]));
      const input = h("input", { type: "range", min: low, max: high, step, input: event => { basis[name] = event.target.valueAsNumber; shown.textContent = basis[name]; this.axes = null; this.fit(); } });
      input.value = basis[name];
      return h("label", { class: "slide" }, text, input, shown);
    };
    const places = [{ value: "rows", label: "some rows" }, { value: "grid", label: "a grid" }];
    parts.gauss.replaceChildren(
      segmented("Where the centres are", places, basis.place, place => choose({ place, centres: Math.min(basis.centres, MOST[place]) })),
      basis.place === "rows" ? h("button", { type: "button", click: () => choose({ seed: (basis.seed + 1) % 10000 }) }, "Draw others") : "",
      slide(basis.place === "rows" ? "centres" : "a side", "centres", 2, MOST[basis.place], 1), slide("width σ", "width", 0.1, 5, 0.1));
    parts.tabs.replaceChildren(segmented("Picture", ["Input plane", "Feature space"].map((label, value) => ({ value, label })), this.tab, tab => { this.tab = tab; this.kinds(); }));
    this.sides.forEach((side, k) => side.toggleAttribute("data-off", k !== this.tab));
  }

  fit() {
    const { X, y, preset } = this.set;
    return this.latest("basis.show", { X, y, preset, box: this.stage.box, model: this.model, basis: this.basis, axes: this.axes });
  }

  draw() {
    const { answer, stage, side, layers, set } = this, { features, plane, proof, names, axes } = answer;
    const lines = (where, part) => (part.lines ?? []).map(line => s("path", { class: "boundary line-0", d: where.path(line) }));
    const ground = (where, part) => (part.regions ?? []).map(one => where.region(one));
    layers.ground.replaceChildren(...ground(stage, plane));
    layers.axes.replaceChildren(...stage.axes());
    layers.lines.replaceChildren(...answer.centres.flatMap((at, k) => this.centre(at, k)), ...lines(stage, plane));
    layers.under.replaceChildren(...this.rings(stage, set.X), ...this.selected(stage, set.X));
    layers.over.replaceChildren(...this.multipliers(stage, set.X));
    side.box = features.box;
    side.svg.replaceChildren(...ground(side, features), ...side.axes(axes.map(j => names[j]), true), ...lines(side, features),
      ...this.rings(side, features.points), ...this.selected(side, features.points), ...side.marks(features.points, set.y), ...this.multipliers(side, features.points));
    this.card.show(answer.model, set.X.length);
    this.code.textContent = answer.python;
    this.shown();
    this.parts.proof.replaceChildren(...this.proof(proof));
    stage.svg.setAttribute("aria-label", this.sentence());
    side.svg.setAttribute("aria-label", `Feature space, ${names[axes[1]]} against ${names[axes[0]]}. ${this.cut.textContent}`);
    stage.svg.dataset.drawn = String(Number(stage.svg.dataset.drawn ?? 0) + 1);
  }

  /** The centre of a Gaussian function, and the circle of its width. */
  centre([x, y], k) {
    const { stage } = this, px = stage.x(x), py = stage.y(y), r = Math.abs(stage.x(this.basis.width) - stage.x(0));
    return [this.answer.axes.includes(k) && s("circle", { class: "distance", r, cx: px, cy: py }), s("path", { class: "cross", d: `M${px - 5},${py}h10M${px},${py - 5}v10` })].filter(Boolean);
  }

  rings(stage, places) { return this.answer.proof.rows.filter(i => places[i]).map(i => s("circle", { class: "ring", r: stage.small ? 10 : 12, transform: stage.place(places[i]) })); }

  selected(stage, places) { return places[this.row] ? [s("circle", { class: "selected", r: stage.small ? 14 : 17, transform: stage.place(places[this.row]) })] : []; }

  /** λ beside the rows of the proof. */
  multipliers(stage, places) {
    const { rows, multipliers } = this.answer.proof;
    return rows.flatMap((i, k) => {
      if (!places[i]) return [];
      const x = stage.x(places[i][0]), right = x > stage.width - 84;
      return [stage.text(x + (right ? -16 : 16), Math.max(16, stage.y(places[i][1]) - 8), `λ ${short3(multipliers[k])}`, "label", right ? "end" : "start")];
    });
  }

  /** The functions on the axes, and where the others are held. */
  shown() {
    const { names, axes, features } = this.answer;
    const axis = (label, k) => select(label, names.map((name, j) => [String(j), name]), String(axes[k]), j => {
      const next = axes.slice();
      if (Number(j) === axes[1 - k]) next[1 - k] = axes[k];
      next[k] = Number(j);
      this.axes = next;
      this.fit();
    });
    if (!this.parts.shown.contains(document.activeElement) || this.named !== names.join()) this.parts.shown.replaceChildren(h("h2", {}, "Feature space"), axis("Vertical axis", 1), "against", axis("Horizontal axis", 0));
    this.named = names.join();
    const held = features.held ?? [], listed = held.length > 3 ? `the other ${held.length} functions have their means` : held.map(one => `${names[one.function]} has its mean ${fixed(one.value)}`).join(" and ");
    const where = held.length ? `The line is the cut of the boundary where ${listed}.` : "These are all functions, so the line is the whole boundary.";
    const off = features.elsewhere ? ` ${features.elsewhere} ${features.elsewhere === 1 ? "row is" : "rows are"} on another side of the cut than of the boundary.` : "";
    this.cut.textContent = features.lines ? where + off : "";
  }

  proof(found) {
    const word = WORDS[found.code], fine = found.code === "separable", facts = [];
    if (fine) facts.push(["margin", short(found.margin)]);
    if (found.bound) facts.push(["mistakes of the perceptron", `${found.mistakes}${found.ended ? "" : ", not ended"}`], ["most that the theorem allows", found.bound < 1e6 ? String(Math.floor(found.bound + 1e-6)) : short(found.bound)]);
    if (found.rows.length) facts.push(["rows that prove it", String(found.rows.length)], [found.shares ? "λ, as shares of their sum" : "λ", found.rows.map((i, k) => `${short3(found.multipliers[k])} of row ${i}`).join(", ")]);
    return [h("p", { class: "sum", "data-verdict": found.code }, word), h("dl", { class: "pairs" }, facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", { "data-number": name.split(",")[0] }, value)])),
      h("p", { class: fine ? "verdict" : "verdict unmet" }, icon(fine ? "check" : "warn"), h("span", {}, found.sentence, found.verified ? " Checked again from the rows." : ""))];
  }

  sentence() {
    const { names, proof, model } = this.answer, n = this.set.X.length;
    const wrong = model.error ? "the model could not be fitted" : `${model.wrong.length} of ${n} wrong`;
    const how = proof.code === "separable" ? ` with margin ${short(proof.margin)}${proof.bound ? `, perceptron ${proof.mistakes} mistakes` : ""}` : proof.rows.length ? `, ${proof.rows.length} rows prove it` : "";
    return `Plane with ${n} points. φ has ${names.length} functions. ${WORDS[proof.code]}${how}; ${wrong}.`;
  }

  params() {
    const { kind, place, centres, width, seed } = this.basis, gauss = kind === "gaussian";
    return { ...link.fromModels([this.model]), ...(this.answer ? link.fromPoints(this.answer.points) : {}), b: kind, k: gauss ? centres : null, w: gauss ? width : null,
      g: gauss && place === "grid" ? place : null, s: gauss && seed ? seed : null, a: this.axes?.join(",") ?? null };
  }

  python() { return `${this.answer.python}\n`; }
  leave() { for (const one of this.pictures) one.leave(); }
}

const short3 = value => Number.isInteger(value) ? String(value) : short(value);

export const mount = (root, lab, params) => new BasisPage(root, lab).start(params);
