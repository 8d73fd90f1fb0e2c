// The page Basis: points in the plane beside their basis functions, and the proof whether these separate the classes.
import { h, s, segmented, select } from "./dom.js";
import * as link from "./link.js";
import { ModelCard } from "./models.js";
import { boundaries, codeBlock, codeSection, counted, figureOf, pointsOf, section, verdict } from "./parts.js";
import { planeKeys } from "./plane-keys.js";
import { PointPage } from "./point-page.js";
import { Stage } from "./stage.js";
import { factTable, pointTable } from "./table.js";

const KINDS = { linear: "linear", product: "with x₁x₂", quadratic: "quadratic", gaussian: "Gaussian" };
const PLACES = { rows: "some rows", grid: "a grid" }, MOST = { rows: 20, grid: 6 }; // functions, or functions on each side
const choices = words => Object.entries(words).map(([value, label]) => ({ value, label }));

class BasisPage extends PointPage {
  tab = "plane";

  async start(params) {
    const { models, unknown } = link.toModels(params, this.lab.known, 1, "perceptron", ["b", "k", "w", "s", "g", "a"]);
    this.model = models[0] ?? { name: "perceptron", settings: {}, base: null };
    const read = link.reader(params, unknown), { number, word } = link, place = read("g", "rows", word(Object.keys(PLACES)));
    this.basis = { kind: read("b", "linear", word(Object.keys(KINDS))), place, centres: Math.round(read("k", 4, number(2, MOST[place]))), width: read("w", 1, number(0.1, 5)), seed: Math.round(read("s", 0, number(0, 9999))) };
    this.axes = params.get("a")?.split(",").map(Number) ?? null;
    await this.begin(params, "xor");
    if (this.answer) this.axes = read("a", null, text => (this.answer.axes.join() === text ? this.answer.axes : null));
    this.lab.unknown(unknown);
    return this;
  }

  build() {
    this.layered();
    const other = s("svg", { class: "stage", role: "img" }), figures = [this.svg, other].map(figureOf);
    this.table = pointTable(() => this.set, () => this.changed());
    this.parts = Object.fromEntries(["kinds", "gauss", "tabs", "shown", "card"].map(name => [name, h("div", { class: name })]));
    this.cut = h("p", { class: "note" });
    this.code = codeBlock();
    this.card = new ModelCard(0, this.model, this.lab.known, () => this.told(), false);
    this.sides = { plane: h("div", {}, h("h2", {}, "Input plane"), figures[0]), features: h("div", {}, this.parts.shown, figures[1], this.cut) };
    this.root.append(
      this.lab.lead("Which φ makes these points separable?", ["Add ", h("b", { class: "math" }, "x₁x₂"), " and XOR comes apart."], "V9 in the tour", this.tools[0], this.presets),
      h("div", { class: "columns" },
        h("div", {}, this.parts.kinds, this.parts.gauss, this.parts.tabs, h("div", { class: "pair spaces" }, Object.values(this.sides)), this.table, this.parts.card),
        h("aside", { class: "rail", "aria-label": "Model and Python" },
          section("Model", this.card.element), codeSection(this.code))),
      this.tools[1]);
    this.stage = new Stage(figures[0], this.svg, () => 0.9, () => { if (this.answer) { this.points(); this.fit(); } });
    this.side = new Stage(figures[1], other, () => 0.9, () => this.answer && this.draw());
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
    const { basis, parts } = this, rows = basis.place === "rows";
    const choose = made => { Object.assign(basis, made); this.axes = null; this.kinds(); this.told(); };
    const slide = (words, name, min, max, step) => {
      const output = h("output", {}, basis[name]), input = h("input", { type: "range", min, max, step, input: event => { output.textContent = basis[name] = event.target.valueAsNumber; this.axes = null; this.fit(); }, change: () => this.told() });
      input.value = basis[name];
      return h("label", { class: "slide" }, words, input, output);
    };
    parts.kinds.replaceChildren(h("span", { class: "math" }, "φ(x)"), segmented("Basis functions", choices(KINDS), basis.kind, kind => choose({ kind })));
    parts.gauss.hidden = basis.kind !== "gaussian";
    parts.gauss.replaceChildren(segmented("Where the centres are", choices(PLACES), basis.place, place => choose({ place, centres: Math.min(basis.centres, MOST[place]) })),
      rows ? h("button", { click: () => choose({ seed: (basis.seed + 1) % 10000 }) }, "Draw others") : "",
      slide(rows ? "centres" : "centres a side", "centres", 2, MOST[basis.place], 1), slide("width", "width", 0.1, 5, 0.1));
    parts.tabs.replaceChildren(segmented("Picture", choices({ plane: "Input plane", features: "Feature space" }), this.tab, tab => { this.tab = tab; this.kinds(); }));
    for (const name in this.sides) this.sides[name].toggleAttribute("data-off", name !== this.tab);
  }

  fit() {
    return this.lab.follow(this, "basis.show", { ...this.set.sent, box: this.stage.box, model: this.model, basis: this.basis, axes: this.axes });
  }

  /** The same for a choice that is complete: screen readers hear what came of it. */
  told() { return this.fit().then(() => this.lab.say(this.answer.sentence)); }

  draw() {
    const { answer, stage, side, layers, set } = this, { features, plane, names, axes } = answer;
    const lines = (on, part) => boundaries(on, part.lines), ground = (on, part) => part.regions.map(one => on.region(one));
    layers.ground.replaceChildren(...ground(stage, plane));
    layers.axes.replaceChildren(...stage.axes());
    layers.lines.replaceChildren(...answer.centres.flatMap((at, k) => this.centre(at, axes.includes(k))), ...lines(stage, plane));
    layers.over.replaceChildren(...this.rings(stage, set.X), ...this.multipliers(stage, set.X));
    side.box = features.box;
    side.svg.replaceChildren(...ground(side, features), ...side.axes(axes.map(j => names[j])), ...lines(side, features),
      ...side.marks(features.points.slice(0, set.y.length), set.y), ...this.rings(side, features.points), ...this.multipliers(side, features.points));
    this.card.show(answer.model, set.X.length);
    this.code.textContent = answer.python;
    this.shown();
    this.proof(answer.proof);
    this.cut.textContent = features.cut;
    stage.svg.setAttribute("aria-label", answer.sentence);
    side.svg.setAttribute("aria-label", `Feature space with ${pointsOf(features.points)}, ${names[axes[1]]} against ${names[axes[0]]}. ${features.cut}`);
    counted(stage.svg);
  }

  /** The centre of a Gaussian function, with the circle of its width if it is on an axis of the feature space. */
  centre([x, y], circled) {
    const cx = this.stage.x(x), cy = this.stage.y(y), r = this.stage.x(this.basis.width) - this.stage.x(0);
    return [circled ? s("circle", { class: "distance", r, cx, cy }) : "", s("path", { class: "cross", d: `M${cx - 5},${cy}h10M${cx},${cy - 5}v10` })];
  }

  /** The rows of the proof, and the selected one. */
  rings(stage, places) {
    const ring = (kind, i, r) => places[i] ? [s("circle", { class: kind, r: stage.small ? 0.8 * r : r, transform: stage.place(places[i]) })] : [];
    return [...this.answer.proof.rows.flatMap(i => ring("ring", i, 12)), ...ring("selected", this.row, 17)];
  }

  /** λ beside the rows of the proof, above or below them where there is room. */
  multipliers(stage, places) {
    const { rows, multipliers } = this.answer.proof, taken = [];
    return rows.map((i, k) => {
      const [x, y] = places[i] ? [stage.x(places[i][0]), stage.y(places[i][1])] : [-99, -99], left = x > stage.width - 84, middle = x + (left ? -42 : 42);
      const down = [-8, 20, -24, 36].find(by => taken.every(([u, v]) => Math.abs(u - middle) > 60 || Math.abs(v - y - by) > 15)) ?? -8;
      taken.push([middle, y + down]);
      return stage.text(x + (left ? -16 : 16), y + down, `λ ${multipliers[k]}`, "label soft", left ? "end" : "start");
    });
  }

  /** The functions on the axes. */
  shown() {
    const { names, axes } = this.answer;
    const axis = (label, k) => select(label, names.map((name, j) => [String(j), name]), String(axes[k]), j => {
      this.axes = axes.slice();
      if (Number(j) === axes[1 - k]) this.axes[1 - k] = axes[k];
      this.axes[k] = Number(j);
      this.told();
    });
    this.parts.shown.replaceChildren(h("h2", {}, "Feature space"), axis("Vertical axis", 1), "against", axis("Horizontal axis", 0));
  }

  proof({ fine, word, facts, sentence }) {
    this.parts.card.replaceChildren(h("p", { class: "sum" }, word), factTable(facts), verdict(fine, sentence));
  }

  sentence() { return this.answer.sentence; }

  params() {
    const { kind, place, centres, width, seed } = this.basis, gauss = kind === "gaussian" ? { k: centres, w: width, g: place === "grid" ? place : null, s: seed || null } : {};
    return { ...link.fromModels([this.model]), ...(this.answer ? link.fromPoints(this.answer.points) : {}), b: kind, ...gauss, a: this.axes?.join(",") ?? null };
  }
}

export const mount = (root, lab, params) => new BasisPage(root, lab).start(params);
