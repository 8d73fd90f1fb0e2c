// The page Fisher: a direction to turn, the histograms along it, and J of all directions.
import { fixed, h, s, segmented, short } from "./dom.js";
import * as link from "./link.js";
import { boundaries, codeBlock, codeSection, figureOf, mainPicture, pointsOf, released, section } from "./parts.js";
import { pointChoices } from "./point-choices.js";
import { PointSet } from "./pointset.js";
import { COLOURS, Stage } from "./stage.js";
import { asTable, factTable, pointTable } from "./table.js";

const HEIGHT = 150, THRESHOLDS = ["midpoint", "gaussian"];

class Fisher {
  constructor(root, lab) { Object.assign(this, { root, lab, row: 0 }); }

  async start(params) {
    const begun = await this.lab.begun("fisher.start", params, "elongated");
    this.set = new PointSet(begun.X, begun.y, begun.preset);
    const unknown = link.others(params, "p", "d", "a", "t"), read = link.reader(params, unknown);
    this.degrees = read("a", 20, link.number(0, 180));
    this.threshold = read("t", "gaussian", link.word(THRESHOLDS));
    this.lab.unknown(unknown);
    this.build();
    this.stage.show(this.set.X);
    await this.ask();
    return this;
  }

  build() {
    this.svg = mainPicture("slider", null, { "aria-valuemin": 0, "aria-valuemax": 180 });
    const figure = figureOf(this.svg);
    this.choice = h("div", { class: "choices" });
    const picture = () => s("svg", { role: "img" });
    [this.histogram, this.curve] = [picture(), picture()];
    this.tables = [
      asTable("numbers of the histogram", () => { const { edges, counts, classes } = this.answer; return [["from", "to", ...classes.map(k => COLOURS[k])], ...counts[0].map((_, j) => [fixed(edges[j]), fixed(edges[j + 1]), ...counts.map(list => list[j])])]; }),
      asTable("J of all directions", () => [["degrees", "J"], ...this.answer.curve.degrees.map((v, k) => [fixed(v, 0), this.answer.curve.J[k]])])];
    this.numbers = h("div");
    this.code = codeBlock();
    this.table = pointTable(() => this.set, () => this.ask());
    this.root.append(
      this.lab.lead("Can you find the largest J?", ["Turn the arrow with the pointer or with ", h("b", {}, "←"), " and ", h("b", {}, "→"), ". Is the direction of the means the best one?"], "V7 in the tour", this.choice),
      h("div", { class: "columns" }, h("div", {}, figure, this.table, h("figure", { class: "chart" }, this.histogram, this.tables[0])),
        h("aside", { class: "rail", "aria-label": "Numbers" },
          section("J of all directions", h("figure", { class: "chart" }, this.curve, this.tables[1])),
          section("This direction", this.numbers),
          codeSection(this.code))));
    this.stage = new Stage(figure, this.svg, width => width < 520 ? 320 / 390 : 440 / 872, () => { if (this.answer) this.ask(); });
    this.pictures = [this.stage, { svg: this.histogram }, { svg: this.curve }];
    this.pointer();
    this.choices();
  }

  choices() {
    const turn = (text, degrees) => h("button", { click: () => this.turn(degrees()) }, text);
    this.choice.replaceChildren(
      turn("Means", () => this.answer.means.degrees), turn("Fisher", () => this.answer.best.degrees),
      segmented("Threshold", THRESHOLDS.map(value => ({ value, label: value === "gaussian" ? "Gaussian" : "midpoint" })), this.threshold, value => { this.threshold = value; this.choices(); this.ask(); }),
      ...pointChoices(this, "fisher.start", () => { this.choices(); this.ask(); }, () => { this.stage.show(this.set.X); this.choices(); this.ask(); }, 2));
  }

  get centre() { const [l, r, lo, hi] = this.stage.box; return [(l + r) / 2, (lo + hi) / 2]; }

  turn(degrees) {
    this.degrees = Math.round((((degrees % 180) + 180) % 180) * 100) / 100;
    return this.ask();
  }

  pointer() {
    let held = -1, turning = false;
    const { svg, stage } = this;
    const angle = event => { const [x, y] = stage.at(event), [a, b] = this.centre; this.turn(Math.atan2(y - b, x - a) * 180 / Math.PI); };
    svg.addEventListener("pointerdown", event => {
      held = stage.hit(event, this.set.X, 14);
      turning = held < 0;
      svg.setPointerCapture(event.pointerId);
      if (turning) angle(event); else this.set.keep();
    });
    svg.addEventListener("pointermove", event => {
      if (turning) angle(event);
      else if (held >= 0) { this.set.move(held, stage.at(event)); this.ask(); }
    });
    released(svg, () => { if (held >= 0) this.choices(); held = -1; turning = false; });
    svg.addEventListener("keydown", event => {
      const by = { ArrowLeft: 1, ArrowUp: 1, ArrowRight: -1, ArrowDown: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      this.turn(this.degrees + by * (event.shiftKey ? 10 : 1)).then(() => this.lab.say(this.sentence()));
    });
  }

  ask() {
    return this.lab.follow(this, "fisher.show", { ...this.set.sent, degrees: this.degrees, box: this.stage.box, threshold: this.threshold });
  }

  sentence() { return `Direction ${fixed(this.degrees, 0)} degrees: J is ${short(this.answer.J)} of at most ${short(this.answer.best.J)}; ${this.answer.wrong[this.threshold]} of ${this.set.X.length} wrong.`; }

  draw() {
    const { answer, stage, svg } = this, { X, y } = this.set, [a, b] = this.centre, length = 0.34 * Math.min(stage.width, stage.height);
    const [cx, cy] = [stage.x(a), stage.y(b)], tip = [cx + length * answer.w[0], cy - length * answer.w[1]];
    const axis = stage.path([-60, 60].map(t => [a + t * answer.w[0], b + t * answer.w[1]]));
    svg.replaceChildren(...stage.axes(), s("path", { class: "before", d: axis }),
      ...boundaries(stage, answer.lines), ...stage.marks(X, y),
      stage.arrow(cx, cy, ...tip, "vector"), stage.text(tip[0] + 12 * Math.sign(answer.w[0] || 1), tip[1] - 6, "w", "label math", "middle"));
    svg.setAttribute("aria-label", `Direction in degrees through ${pointsOf(X)}`);
    svg.setAttribute("aria-valuenow", fixed(this.degrees, 0).replace("−", "-"));
    svg.setAttribute("aria-valuetext", this.sentence());
    this.drawHistogram();
    this.drawCurve();
    for (const table of this.tables) table.refresh();
    const facts = [["J", short(answer.J)], ["largest J", short(answer.best.J)], ["midpoint", fixed(answer.midpoint)], ["crossings", answer.crossings.map(v => fixed(v)).join(", ") || "none"], ["wrong by the midpoint", answer.wrong.midpoint], ["wrong by Gaussians", answer.wrong.gaussian]];
    this.numbers.replaceChildren(factTable(facts));
    this.code.textContent = answer.python;
  }

  /** Draw a chart as wide as its figure, so that its text keeps its size. */
  chart(svg, height, words, draw) {
    const width = svg.parentNode.clientWidth || 344;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("aria-label", `${words} ${this.sentence()}`);
    svg.replaceChildren(...draw(width).filter(Boolean));
  }

  /** The rows of each class in bins along the direction, the second class below the line. */
  drawHistogram() {
    const { edges, counts, cuts, classes } = this.answer, most = Math.max(...counts.flat(), 1), low = edges[0], high = edges.at(-1), middle = HEIGHT / 2, tall = n => n / most * (middle - 14);
    this.chart(this.histogram, HEIGHT, "Histogram along the direction.", width => {
      const x = v => 8 + (v - low) / (high - low || 1) * (width - 16);
      const bars = counts.flatMap((list, k) => list.map((n, j) => n && s("rect", { class: `class-${classes[k]}`, x: x(edges[j]) + 0.5, width: Math.max(1, x(edges[j + 1]) - x(edges[j]) - 1), y: k ? middle + 1 : middle - tall(n), height: tall(n) })));
      const lines = cuts.filter(v => v >= low && v <= high).map(v => s("path", { class: "boundary line-0", d: `M${x(v)},4V${HEIGHT - 4}` }));
      return [s("path", { class: "axis", d: `M0,${middle}H${width}` }), ...bars, ...lines];
    });
  }

  drawCurve() {
    const { curve, best, J } = this.answer, y = v => 10 + (1 - v / (best.J || 1)) * 110;
    this.chart(this.curve, HEIGHT - 4, "J of all directions.", width => {
      const x = v => 6 + v / 180 * (width - 12), path = curve.degrees.map((v, k) => `${x(v).toFixed(1)},${y(curve.J[k]).toFixed(1)}`).join("L");
      return [s("path", { class: "grid", d: `M0,120H${width}` }), s("path", { class: "curve", d: `M${path}` }), s("path", { class: "now", d: `M${x(this.degrees)},4V120` }), s("circle", { class: "dot", r: 5, cx: x(this.degrees), cy: y(J) }),
        ...[0, 90, 180].map(v => s("text", { class: "tick", x: x(v), y: 138, "text-anchor": ["start", "middle", "end"][v / 90] }, `${v}°`))];
    });
  }

  params() { return { ...(this.answer ? link.fromPoints(this.answer.points) : {}), a: this.degrees, t: this.threshold === "midpoint" ? "midpoint" : null }; }
}

export const mount = (root, lab, params) => new Fisher(root, lab).start(params);
