// The page Many classes: two schemes on the same points, hatched where a scheme is ambiguous.
import { fixed, h, icon, s, select } from "./dom.js";
import { snapped } from "./limits.js";
import * as link from "./link.js";
import { boundaries, codeBlock, codeSection, counted, figureOf, mainPicture, pointsOf, released, tableParts, tableRow } from "./parts.js";
import { ARROWS } from "./plane-keys.js";
import { pointChoices } from "./point-choices.js";
import { PointSet } from "./pointset.js";
import { COLOURS, Stage, badge } from "./stage.js";
import { pointTable } from "./table.js";

const FIRST = "one-versus-rest,one-versus-one";

class Classes {
  constructor(root, lab) { Object.assign(this, { root, lab, at: [0, 0], row: -1 }); }

  async start(params) {
    const { models, unknown } = link.toModels(params, this.lab.known, 2, FIRST);
    this.models = FIRST.split(",").map((name, k) => models[k] ?? { name, settings: {}, base: null });
    for (const model of this.models) model.base ??= this.lab.known.get(model.name).base[0] ?? null;
    this.lab.unknown(unknown);
    const begun = await this.lab.begun("classes.start", params, "three");
    this.set = new PointSet(begun.X, begun.y, begun.preset);
    this.build();
    this.middle();
    await this.fit();
    return this;
  }

  /** Show all points, and put the pointer into their middle, where schemes tend to be ambiguous. */
  middle() {
    for (const { stage } of this.sides) { stage.resize(); stage.show(this.set.X); }
    const [l, r, lo, hi] = this.stage.box;
    this.at = snapped([(l + r) / 2, (lo + hi) / 2]);
  }

  build() {
    this.top = h("div", { class: "choices" });
    this.sides = [0, 1].map(k => this.side(k));
    this.pictures = this.sides.map(one => one.stage);
    this.stage = this.pictures[0];
    this.numbers = h("div");
    this.table = pointTable(() => this.set, () => this.fit());
    this.code = codeBlock();
    this.root.append(
      this.lab.lead("Who wins where nobody has a majority?", ["Put the pointer into the ", h("b", {}, "hatched"), " part: which classes claim it?"], "V8 in the tour", this.top),
      h("div", { class: "pair" }, this.sides.map(one => one.element)), this.table,
      h("div", { class: "columns" }, this.numbers, h("aside", { class: "rail", "aria-label": "Python" }, codeSection(this.code))));
    this.choices();
  }

  choices() {
    if (!this.set.X[this.row]) this.row = -1;
    const again = () => { this.choices(); this.fit(); };
    this.top.replaceChildren(...pointChoices(this, "classes.start", again, () => { this.row = -1; this.middle(); again(); }));
  }

  side(k) {
    // Keys act on the points of both pictures, so one of them is enough to stop at.
    const svg = k ? s("svg", { class: "stage", role: "img" }) : mainPicture("application", "plane with points that can be moved");
    const figure = figureOf(svg), head = h("div", { class: "row scheme" }), facts = h("p", { class: "verdict" });
    const side = { svg, head, facts, element: h("div", {}, head, figure, facts) };
    side.stage = new Stage(figure, svg, width => width < 520 ? 320 / 390 : 420 / 600, () => { if (this.answer) { for (const one of this.sides) one.stage.show(this.set.X); this.fit(); } });
    this.pointer(side);
    this.heads(k, side);
    return side;
  }

  heads(k, side) {
    const { known } = this.lab, model = this.models[k], info = known.get(model.name);
    const again = () => { this.heads(k, side); this.fit(); };
    side.head.replaceChildren(
      select(k ? "Second scheme" : "First scheme", [...known.values()].map(one => [one.name, one.title]), model.name, name => { Object.assign(model, { name, settings: {}, base: known.get(name).base[0] ?? null }); again(); }),
      info.base.length ? select("Base model", info.base.map(name => [name, `of ${known.get(name).short}`]), model.base, base => { model.base = base; again(); }) : "");
  }

  pointer({ svg, stage }) {
    let held = -1;
    svg.addEventListener("pointerdown", event => {
      held = stage.hit(event, this.set.X);
      if (held < 0) return;
      this.row = held;
      this.set.keep();
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", event => {
      this.at = stage.at(event);
      if (held >= 0) this.set.move(held, this.at);
      this.fit();
    });
    released(svg, () => { if (held >= 0) { held = -1; this.choices(); this.table.refresh(); } });
    svg.addEventListener("keydown", event => {
      const arrow = ARROWS[event.key], by = event.shiftKey ? 1 : 0.1;
      const { X } = this.set, moved = (this.row < 0 ? this.at : X[this.row]).map((v, j) => v + by * arrow?.[j]);
      if (arrow && this.row < 0) this.at = moved;
      else if (arrow) { this.set.keep(); this.set.move(this.row, moved); }
      else if (event.key === "n" || event.key === "p") this.row = (Math.max(this.row, event.key === "n" ? -1 : 0) + (event.key === "n" ? 1 : X.length - 1)) % X.length;
      else if (event.key === "c") this.row = -1;
      else if (event.key === "z") this.set.undo();
      else if (event.key === "Escape") return svg.blur();
      else return;
      event.preventDefault();
      if (this.row >= 0) this.at = snapped(this.set.X[this.row]);
      this.choices();
      this.fit().then(() => this.lab.say(`${this.row < 0 ? "Cross" : `Row ${this.row}`} at ${this.at.map(v => fixed(v)).join(", ")}. ${[0, 1].map(k => this.sentence(k) + this.here(this.answer.schemes[k])).join(" ")}`));
    });
  }

  fit() {
    const [at1, at2] = this.at;
    return this.lab.follow(this, "classes.fit", { ...this.set.sent, models: this.models, box: this.stage.box, at1, at2 });
  }

  sentence(k) {
    const one = this.answer.schemes[k], name = this.lab.known.get(this.models[k].name).title;
    return one.error ? `${name} could not be fitted.` : `${name} gets ${one.wrong.length} of ${this.set.X.length} wrong.`;
  }

  /** Which classes are in question at the cross. */
  here({ question }) {
    if (!question) return "";
    return question.length ? ` At the cross, ${question.map(j => COLOURS[j]).join(" and ")} are in question.` : " At the cross, no model claims its class.";
  }

  draw() {
    this.sides.forEach((side, k) => this.drawSide(side, this.answer.schemes[k], k));
    this.code.textContent = this.answer.python;
    const kinds = [...new Set(this.set.y)].sort();
    const score = (one, kind) => { const j = one.classes?.indexOf(kind) ?? -1; return one.error || j < 0 ? null : one.scores.length > 1 ? one.scores[j] : (j ? 1 : -1) * one.scores[0]; };
    const cells = kind => this.answer.schemes.map(one => h("td", { class: one.predicted === kind ? "wins" : null }, fixed(score(one, kind)), one.question?.includes(kind) ? " ?" : ""));
    const heads = ["class", ...this.models.map(model => this.lab.known.get(model.name).title)];
    this.numbers.replaceChildren(h("h2", {}, `Scores at (${this.at.map(v => fixed(v)).join(", ")})`), h("table", { class: "votes" },
      tableParts(heads, kinds.map(kind => tableRow({}, [badge(kind), ` ${COLOURS[kind]}`], cells(kind))))));
  }

  drawSide({ svg, stage, facts }, one, k) {
    const { X, y } = this.set;
    const [px, py] = [stage.x(this.at[0]), stage.y(this.at[1])];
    const hatch = s("pattern", { id: `hatch-${k}`, width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("path", { class: "hatch", d: "M0,0V8" }));
    svg.replaceChildren(s("defs", {}, hatch), ...(one.regions ?? []).map(region => stage.region(region)), ...stage.axes(),
      ...(one.ambiguous ?? []).map(ring => s("path", { class: "ambiguous", fill: `url(#hatch-${k})`, d: stage.path(ring, true) })),
      ...(one.models ?? []).map(line => s("path", { class: "before", d: stage.path(line) })),
      ...boundaries(stage, one.lines ?? []),
      ...(one.wrong ?? []).filter(i => X[i]).map(i => s("circle", { class: "ring", r: stage.small ? 9.5 : 12, transform: stage.place(X[i]) })),
      ...stage.marks(X, y), this.row >= 0 ? s("circle", { class: "selected", r: stage.small ? 14 : 17, transform: stage.place(X[this.row]) }) : "", s("path", { class: "cross", d: `M${px - 7},${py}h14M${px},${py - 7}v14` }));
    svg.setAttribute("aria-label", k ? this.sentence(k) : `Plane with ${pointsOf(X)}. ${this.sentence(0)} ${this.sentence(1)}`);
    counted(svg);
    if (one.error) return void facts.replaceChildren(icon("warn"), one.error);
    const unclear = one.share === null ? "" : ` Ambiguous in ${fixed(100 * one.share, 1)} % of the picture.`;
    facts.replaceChildren(icon("check"), h("span", {}, `${one.wrong.length} of ${X.length} wrong.${unclear}${this.here(one)}${one.cost ? ` ${one.cost}.` : ""}`));
  }

  params() { return { ...link.fromModels(this.models), ...(this.answer ? link.fromPoints(this.answer.points) : {}) }; }
}

export const mount = (root, lab, params) => new Classes(root, lab).start(params);
