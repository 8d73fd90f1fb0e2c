// The page Plane: points to drag, up to three models, and the numbers of the point under the pointer.
import { fixed, h, renew, segmented, seldom } from "./dom.js";
import * as link from "./link.js";
import { ModelCard } from "./models.js";
import { codeBlock, codeSection, counted, figureOf, pointsOf, section } from "./parts.js";
import { planeKeys } from "./plane-keys.js";
import { drawPlane } from "./plane-drawing.js";
import { PointPage } from "./point-page.js";
import { COLOURS, Stage, badge } from "./stage.js";
import { pointTable } from "./table.js";

const MOST_MODELS = 3;
const SHOWN = { mistakes: "Mistakes ringed", distance: "Distance", normal: "Normal w", margin: "Margin", probability: "P = 0.1 … 0.9", losses: "Losses" };
const LONG_TEXT = /"([^"]{60})[^"]{40,}"/; // The coded points of the lines of Python are shown in part, and copied in full.
const FIRST = { mistakes: true, distance: true };

class Plane extends PointPage {
  focus = 0;
  show = { ...FIRST };

  async start(params) {
    const { lab } = this;
    const { models, unknown } = link.toModels(params, lab.known, MOST_MODELS, "least-squares,logistic", ["f"]);
    this.models = models.length ? models : [{ name: "logistic", settings: {}, base: null }];
    this.focus = Math.round(link.reader(params, unknown)("f", 0, link.number(0, this.models.length - 1)));
    await this.begin(params, "outlier");
    lab.unknown(unknown);
    return this;
  }

  build() {
    const { lab } = this;
    this.layered();
    const figure = figureOf(this.svg);
    this.card = h("div", { class: "under" });
    this.rail = { models: h("div"), show: h("div"), python: codeBlock(), live: h("span", { class: "live" }) };
    this.table = pointTable(() => this.set, () => this.changed());
    const sentence = ["Drag the ", h("b", {}, "dotted"), " point away: it only gets more right, yet least squares follows it."];
    const copy = h("button", { click: () => document.querySelector("#act-python").click() }, "Copy");
    this.root.append(
      lab.lead("Which line follows the outlier?", sentence, "V6 in the tour", this.tools[0], this.presets),
      h("div", { class: "columns" },
        h("div", {}, figure, this.table, this.card),
        h("aside", { class: "rail", "aria-label": "Models and settings" },
          section("Models", this.rail.models), section("Show", this.rail.show),
          codeSection(this.rail.python, h("div", { class: "row between" }, copy, this.rail.live)))),
      this.tools[1]);
    this.stage = new Stage(figure, this.svg, width => width < 520 ? 346 / 390 : 542 / 872, () => { if (this.answer) { this.points(); this.fit(); } });
    this.pointer();
    planeKeys(this);
    this.shown();
    this.cards();
  }

  /** What is shown, and whose regions. */
  shown() {
    const checks = Object.entries(SHOWN).map(([name, text]) => h("label", {}, h("input", { type: "checkbox", "data-show": name, checked: Boolean(this.show[name]), change: event => { this.show[name] = event.target.checked; this.fit(); } }), text));
    const regions = this.models.map((one, k) => ({ value: k, label: this.lab.known.get(one.name).short }));
    this.rail.show.replaceChildren(
      h("div", { class: "row between" }, h("span", {}, "Regions of"), segmented("Whose regions", regions, this.focus, k => { this.focus = k; this.shown(); this.fit(); })),
      h("div", { class: "checks" }, checks));
  }

  cards() {
    const several = this.models.length > 1;
    this.modelCards = this.models.map((model, k) => new ModelCard(k, model, this.lab.known, () => { this.shown(); this.fit(); },
      several && (() => { this.models.splice(k, 1); this.focus = Math.min(this.focus, this.models.length - 1); this.cards(); this.shown(); this.fit(); })));
    const add = h("button", { class: "wide", click: () => {
      const unused = [...this.lab.known.keys()].find(name => !this.models.some(one => one.name === name));
      this.models.push({ name: unused, settings: {}, base: null });
      this.cards(); this.shown(); this.fit();
    } }, "Add a model");
    this.rail.models.replaceChildren(...this.modelCards.map(one => one.element), this.models.length < MOST_MODELS ? add : "");
  }

  payload() {
    return { ...this.set.sent, models: this.models, box: this.stage.box, focus: this.focus, row: this.row, losses: Boolean(this.show.losses), probability: Boolean(this.show.probability) };
  }

  /** Ask for a fit of the present state; the picture follows. */
  fit() { return this.lab.follow(this, "plane.fit", this.payload()); }

  draw() {
    if (!this.answer) return;
    drawPlane(this);
    counted(this.svg);
    this.words();
  }

  /** The numbers and sentences beside the picture. While a point is dragged, they change a few times a second. */
  words = seldom(() => {
    const { answer, set } = this;
    this.modelCards.forEach((card, k) => answer.models[k] && card.show(answer.models[k], set.X.length));
    this.point();
    renew(this.rail.python, answer.python.replace(LONG_TEXT, '"$1…"'));
    const times = answer.models.filter(one => !one.error).map(one => one.milliseconds);
    const live = this.lab.recorded ? "recorded" : times.length ? `live, ${fixed(Math.max(...times), 0)} ms a fit` : "no fit";
    renew(this.rail.live, live);
    const sentence = this.sentence();
    if (this.svg.getAttribute("aria-label") !== sentence) this.svg.setAttribute("aria-label", sentence);
  });

  sentence() {
    const said = this.answer.models.map((one, k) => `${this.lab.known.get(this.models[k]?.name)?.short} ${one.error ? "could not be fitted" : `gets ${one.wrong.length} wrong`}`);
    return `Plane with ${pointsOf(this.set.X)}; ${said.join(", ")}.`;
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
    renew(this.card,
      h("div", { class: "who" }, badge(k, 18), h("div", {}, `Row ${this.row}, ${COLOURS[k]}`, h("small", {}, `at (${fixed(at[0])}, ${fixed(at[1])})`))),
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "hidden" }, "Model")), heads)), h("tbody", {}, rows)));
  }

  params() {
    const shown = this.answer ? link.fromPoints(this.answer.points) : {};
    return { ...link.fromModels(this.models), ...shown, f: this.focus || null };
  }
}

export const mount = (root, lab, params) => new Plane(root, lab).start(params);
