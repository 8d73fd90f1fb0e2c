// The page Losses: losses by margin with a tangent, and the boundary that each of them gives to points on a line.
import { fixed, h, s } from "./dom.js";
import { nextRow, stepped } from "./limits.js";
import * as link from "./link.js";
import { clamp, codeBlock, codeSection, figureOf, mainPicture, placesOf, released, section, tableParts, tableRow } from "./parts.js";
import { Stage } from "./stage.js";
import { asTable } from "./table.js";

const FIRST = ["logistic", "squared", "perceptron", "hinge", "zero-one"];
const GRAPH = [-3.2, 5.2, -0.35, 4.4], ENDS = [-6, 32]; // both ends of the line; LEFT and RIGHT in page_losses.py

class Losses {
  constructor(root, lab) { Object.assign(this, { root, lab, m: 0.5, row: 8 }); }

  async start(params) {
    const known = await this.lab.source.ask("losses.names", {});
    this.names = known.losses;
    this.y = known.y;
    const unknown = link.others(params, "l", "at", "x"), read = link.reader(params, unknown), asked = params.get("l")?.split(",").filter(Boolean) ?? FIRST;
    unknown.push(...asked.filter(name => !this.names.includes(name)));
    this.chosen = new Set(asked.filter(name => this.names.includes(name)));
    if (!this.chosen.size) this.chosen = new Set(FIRST);
    this.m = read("at", 0.5, link.number(-3, 5));
    const places = text => { const x = text.split(",").map(link.number(...ENDS)); return x.length === known.x.length && !x.includes(null) ? x : null; };
    this.x = read("x", known.x.slice(), places);
    this.first = known.x;
    this.lab.unknown(unknown);
    this.build();
    await this.ask();
    return this;
  }

  build() {
    this.svg = mainPicture("slider", null, { "aria-label": "Margin m", "aria-valuemin": -3, "aria-valuemax": 5 });
    this.line = s("svg", { class: "stage", role: "application", tabindex: "0", "aria-roledescription": "line with points that can be moved" });
    const figure = figureOf(this.svg), strip = h("figure", { class: "plane strip" }, this.line);
    const checks = this.names.map(name => h("label", {}, h("input", { type: "checkbox", checked: this.chosen.has(name), change: event => { this.chosen[event.target.checked ? "add" : "delete"](name); this.ask(); } }), name));
    this.table = h("div");
    this.values = asTable("values of the losses", () => [["m", ...this.answer.losses.map(one => one.name)], ...this.answer.margins.flatMap((m, j) => j % 10 ? [] : [[fixed(m, 1), ...this.answer.losses.map(one => one.values[j])]])]);
    this.code = codeBlock();
    const again = h("button", { click: () => { this.x = this.first.slice(); this.ask(); } }, "Put the points back");
    this.root.append(
      this.lab.lead("Which loss still grows?", ["Pull the point at ", h("b", {}, "8"), " out to 30: it only gets more right. Whose boundary follows it?"], "V3 and V6 in the tour", again),
      h("div", { class: "columns" },
        h("div", {}, figure, this.values, strip),
        h("aside", { class: "rail", "aria-label": "Losses and numbers" },
          section("Losses", h("div", { class: "checks" }, checks)),
          section("At this margin", this.table),
          codeSection(this.code))));
    this.stage = new Stage(figure, this.svg, width => width < 520 ? 300 / 390 : 420 / 872, () => this.answer && this.draw());
    this.stage.box = GRAPH;
    this.strip = new Stage(strip, this.line, width => width < 520 ? 150 / 390 : 150 / 872, () => this.answer && this.draw());
    this.strip.box = [...ENDS, -1, 1];
    this.pictures = [this.stage, this.strip];
    this.pointer();
  }

  pointer() {
    let held = -1;
    const { strip, line } = this, all = () => this.x.map(x => [x, 0]);
    line.addEventListener("pointerdown", event => { held = strip.hit(event, all()); if (held >= 0) { this.row = held; line.setPointerCapture(event.pointerId); } });
    line.addEventListener("pointermove", event => { if (held >= 0) { this.x[held] = clamp(Math.round(strip.at(event)[0] * 100) / 100, ...ENDS); this.ask(); } });
    released(line, () => { held = -1; });
    line.addEventListener("keydown", event => {
      const to = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (to) this.x[this.row] = clamp(Math.round(stepped([this.x[this.row], 0], [to, 0], event.shiftKey ? 1 : 0.1)[0] * 100) / 100, ...ENDS);
      else if (event.key === "n" || event.key === "p") this.row = nextRow(this.row, event.key === "n" ? 1 : -1, this.x.length);
      else return;
      event.preventDefault();
      this.ask().then(() => this.lab.say(`Point ${this.row} at ${fixed(this.x[this.row])}. ${this.sentence()}`));
    });
    const { svg, stage } = this, margin = value => { this.m = clamp(Math.round(value * 20) / 20, -3, 5); return this.ask(); };
    const drag = event => { if (event.buttons) margin(stage.at(event)[0]); };
    svg.addEventListener("pointerdown", drag);
    svg.addEventListener("pointermove", drag);
    svg.addEventListener("keydown", event => {
      const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      margin(this.m + by * (event.shiftKey ? 0.5 : 0.05));
    });
  }

  ask() {
    return this.lab.follow(this, "losses.show", { losses: [...this.chosen], m: this.m, x: this.x });
  }

  sentence() { return this.answer.losses.filter(one => one.boundary !== null).map(one => `${one.name} divides at ${fixed(one.boundary)} and gets ${one.wrong} wrong`).join(", "); }

  /** Where the names of the curves stand: beside their own curve, as far from the others as they can. */
  places(lines, names) {
    const { stage } = this, all = lines.map(line => line.map(([x, y]) => [stage.x(x), stage.y(y)])), taken = [];
    return all.map((line, k) => {
      const half = 3.8 * names[k].length + 3;
      let best = [half + 8, 20], most = -99;
      const gap = (x, y, points) => Math.min(99, ...points.map(([a, b]) => Math.hypot(Math.max(0, Math.abs(a - x) - half), Math.max(0, Math.abs(b - y) - 8))));
      for (let j = 0; j < line.length; j += 4) for (const [dx, dy] of [[1, -9], [-1, 9], [1, 9], [-1, -9], [0, -16], [0, 16]]) {
        const x = line[j][0] + dx * (half + 4), y = line[j][1] + dy;
        const own = gap(x, y, line);
        if (x < half + 6 || x > stage.width - half - 30 || y < 14 || y > stage.height - 34 || own < 4) continue;
        const room = Math.min(40, gap(x, y, taken), ...all.map((other, i) => i === k ? 99 : gap(x, y, other))) - own;
        if (room > most) { most = room; best = [x, y + 4]; }
      }
      taken.push(...[-1, 0, 1].map(side => [best[0] + side * half, best[1] - 4]));
      return best;
    });
  }

  draw() {
    const { answer, stage, strip, m } = this, [, , , top] = GRAPH;
    const lines = answer.losses.map(one => placesOf(answer.margins, one.values, one.jumps).filter(([, v]) => v <= top + 0.4));
    const names = answer.losses.map(one => one.name), key = [stage.width, ...names].join();
    if (this.placed?.key !== key) this.placed = { key, at: this.places(lines, names) };
    const curves = answer.losses.flatMap((one, k) => {
      const tangent = [-0.8, 0.8].map(d => [m + d, one.value + d * one.slope]), shown = one.value <= top;
      return [s("path", { class: `boundary line-${k % 5}`, d: stage.path(lines[k]) }), shown && s("path", { class: "tangent", d: stage.path(tangent) }),
        shown && s("circle", { class: "dot", r: 5, cx: stage.x(m), cy: stage.y(one.value) }),
        stage.text(...this.placed.at[k], one.name, "label", "middle")];
    }).filter(Boolean);
    this.svg.replaceChildren(...stage.axes(["m", "ℓ"]), s("path", { class: "now", d: `M${stage.x(m)},0V${stage.height}` }), ...curves);
    this.svg.setAttribute("aria-valuenow", m);
    this.svg.setAttribute("aria-valuetext", `${fixed(m)}: ${answer.losses.map(one => `${one.name} ${fixed(one.value, 3)}`).join(", ")}`);
    const middle = strip.y(0);
    this.line.replaceChildren(
      s("path", { class: "axis", d: `M0,${middle}H${strip.width}` }),
      ...[-5, 0, 5, 10, 15, 20, 25, 30].flatMap(v => [s("path", { class: "grid", d: `M${strip.x(v)},0V${strip.height}` }), strip.text(strip.x(v) + 4, strip.height - 7, fixed(v, 0), "tick")]),
      ...answer.losses.flatMap((one, k) => one.boundary === null || Math.abs(one.boundary) > 32 ? [] : [
        s("path", { class: `boundary line-${k % 5}`, d: `M${strip.x(one.boundary)},8V${strip.height - 24}` })]),
      ...strip.marks(this.x.map(x => [x, 0]), this.y), s("circle", { class: "selected", r: 15, transform: strip.place([this.x[this.row], 0]) }));
    this.line.setAttribute("aria-label", `Line with ${this.x.length} points. ${this.sentence()}.`);
    this.values.refresh();
    const heads = [h("span", { class: "hidden" }, "Loss"), "value", "slope", "curvature", "boundary"];
    const cell = value => h("td", { class: value === null ? "none" : null }, fixed(value, 3));
    this.table.replaceChildren(h("table", { class: "of-losses" },
      tableParts(heads, answer.losses.map(one => tableRow({ "data-loss": one.name }, one.name, ["value", "slope", "curvature", "boundary"].map(key => cell(one[key])))))));
    this.code.textContent = answer.python;
  }

  params() {
    const moved = this.x.some((x, k) => x !== this.first[k]);
    return { l: [...this.chosen].join(","), at: this.m, x: moved ? this.x.join(",") : null };
  }
}

export const mount = (root, lab, params) => new Losses(root, lab).start(params);
