// The page Information: entropy, cross-entropy and KL, the best normals of two peaks, and σ with the other heads.
import { fixed, h, icon, s } from "./dom.js";
import { Stage } from "./stage.js";
import { curveTable } from "./table.js";

/** The sliders: which request they belong to, range, step, first value, and words. */
const SLIDERS = {
  p: ["beliefs", 0, 1, 0.01, 0.3, "p"], q: ["beliefs", 0, 1, 0.01, 0.7, "q"],
  distance: ["peaks", 0, 8, 0.1, 4.4, "distance"], weight: ["peaks", 0.05, 0.95, 0.01, 0.6, "weight of the left"], width: ["peaks", 0.3, 2, 0.05, 0.85, "width σ"],
  z: ["heads", -6, 6, 0.1, 1, "z"],
};
const KEYS = Object.keys(SLIDERS);
/** The figures: request, title, its curves in the answer, box, names of the axes, sliders, and what a drag to (x, y) sets. */
const FIGURES = [
  ["beliefs", "Entropy of a coin", answer => answer.entropy, [-0.04, 1.08, -0.06, 0.78], ["p", "H"], ["p"], x => ["p", x]],
  ["beliefs", "The cost of believing q", answer => answer.costs, [-0.04, 1.08, -0.15, 2.6], ["q", "nats"], ["q"], x => ["q", x]],
  ["peaks", "Two normals for two peaks", answer => answer.curves, [-8, 8, -0.04, 0.62], ["x", "density"], ["distance", "weight", "width"], x => ["distance", 2 * Math.abs(x)]],
  ["heads", "One score, several heads", answer => answer.curves, [-6.2, 6.2, -1.3, 1.5], ["z", "f(z)"], ["z"], x => ["z", x]],
];
const NAMES = { covers: "covers both: least KL(p‖q)", seeks: "seeks one: least KL(q‖p)" };
const shown = value => value === null ? "∞" : fixed(value, 4);

class Information {
  constructor(root, lab) { Object.assign(this, { root, lab, values: {}, past: [], answers: {} }); }

  async start(params) {
    for (const key of KEYS) {
      const [, low, high, , first] = SLIDERS[key], given = Number(params.get(key) ?? NaN);
      this.values[key] = given >= low && given <= high ? given : first;
    }
    const unknown = [...params.keys()].filter(key => key !== "v" && !KEYS.includes(key));
    if (unknown.length) this.lab.notice(`The link has parts that this version does not know: ${unknown.join(", ")}.`);
    this.kept = { ...this.values };
    this.build();
    await Promise.all(["beliefs", "peaks", "heads"].map(one => this.ask(one)));
    return this;
  }

  build() {
    this.inputs = {};
    this.undoing = h("button", { class: "plain", type: "button", "aria-label": "Undo", disabled: true, click: () => this.undo() }, icon("undo"));
    this.code = h("pre", { tabindex: "0", "aria-label": "The same in Python" });
    this.figures = FIGURES.map((one, k) => this.figure(one, k));
    this.root.append(
      this.lab.lead("What does a wrong belief cost?", ["Move ", h("b", { class: "math" }, "q"), " until it costs nothing to believe it."], "V12 and V13 in the tour", this.undoing),
      h("div", { class: "pair charts" }, this.figures.map(one => one.element)),
      h("section", {}, h("h2", {}, "The same in Python"), this.code));
    for (const one of this.figures) one.stage.resize();
    this.pictures = this.figures.map(one => one.stage);
    this.root.addEventListener("keydown", event => { if (event.key === "z" && !event.ctrlKey && !event.metaKey) this.undo(); });
  }

  figure([request, title, curves, box, names, sliders, drag], k) {
    const svg = s("svg", { class: "stage", role: "img", id: k ? null : "stage", tabindex: k ? null : "-1" }), frame = h("figure", { class: "plane" }, svg);
    const one = { request, curves, names, numbers: h("div"), note: h("p", { class: "note" }), table: curveTable(title) };
    one.element = h("section", {}, h("h2", {}, title), frame, sliders.map(key => this.slider(key)), one.numbers, one.note, one.table);
    one.stage = new Stage(frame, svg, () => 0.5, () => this.answers[request] && this.draw(one));
    one.stage.box = box;
    const move = event => { if (event.buttons) this.set(...drag(one.stage.at(event)[0])); };
    svg.addEventListener("pointerdown", event => { svg.setPointerCapture(event.pointerId); move(event); });
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerup", () => this.keep());
    return one;
  }

  slider(key) {
    const [, low, high, step, , words] = SLIDERS[key], output = h("output");
    const input = h("input", { type: "range", min: low, max: high, step, name: key, input: event => this.set(key, event.target.valueAsNumber), change: () => this.keep(),
      keyup: event => { if (event.key !== "Tab") this.ask(SLIDERS[key][0]).then(() => this.lab.say(this.sentence(SLIDERS[key][0]))); } });
    this.inputs[key] = { input, output };
    this.write(key);
    return h("label", { class: "slide" }, h("span", { class: words.length < 2 ? "math" : null }, words), input, output);
  }

  write(key) {
    const { input, output } = this.inputs[key];
    input.value = this.values[key];
    output.textContent = fixed(this.values[key], key === "distance" || key === "z" ? 1 : 2);
  }

  set(key, value) {
    const [request, low, high, step] = SLIDERS[key], at = Math.min(high, Math.max(low, low + Math.round((value - low) / step) * step));
    this.values[key] = Number(at.toFixed(2));
    this.write(key);
    return this.ask(request);
  }

  /** A change is complete: remember the state before it. */
  keep() {
    if (KEYS.every(key => this.kept[key] === this.values[key])) return;
    this.past.push(this.kept);
    this.kept = { ...this.values };
    this.undoing.disabled = false;
  }

  undo() {
    const last = this.past.pop();
    if (!last) return;
    const changed = KEYS.filter(key => last[key] !== this.values[key]);
    this.values = { ...last };
    this.kept = { ...last };
    this.undoing.disabled = !this.past.length;
    changed.forEach(key => this.write(key));
    const requests = [...new Set(changed.map(key => SLIDERS[key][0]))];
    Promise.all(requests.map(one => this.ask(one))).then(() => this.lab.say(`Undone. ${requests.map(one => this.sentence(one)).join(" ")}`));
  }

  ask(request) {
    return new Promise(resolve => this.lab.source.latest(`information.${request}`, this.values, (answer, error) => {
      this.lab.notice(error?.message ?? null);
      if (answer) {
        this.answers[request] = answer;
        for (const one of this.figures) if (one.request === request) this.draw(one);
        this.code.textContent = this.python();
        this.lab.changed();
      }
      resolve();
    }));
  }

  sentence(request) {
    const { numbers, covers, seeks } = this.answers[request], { p, q, z } = this.values;
    if (request === "beliefs") return numbers["KL(p‖q)"].nats === 0 ? `q is p = ${fixed(p)}: it costs nothing to believe it.` : `Who believes q = ${fixed(q)} where p = ${fixed(p)} pays ${shown(numbers["KL(p‖q)"].nats)} nats (${shown(numbers["KL(p‖q)"].bits)} bits) more than H(p) for each draw.`;
    if (request === "peaks") return `The normal that covers p has mean ${fixed(covers.mean)} and deviation ${fixed(covers.deviation)}; the one that seeks a peak has ${fixed(seeks.mean)} and ${fixed(seeks.deviation)}.`;
    return `At z = ${fixed(z, 1)}, σ is ${shown(numbers["σ(z)"])} and its slope ${shown(numbers["σ′(z)"])}.`;
  }

  draw(one) {
    const { stage, names, request } = one, answer = this.answers[request], curves = one.curves(answer), [axis, ...others] = Object.keys(curves), x = curves[axis], taken = [];
    const top = stage.box[3];
    const lines = others.flatMap((name, k) => {
      const points = x.map((v, j) => [v, curves[name][j]]).filter(([, v]) => v !== null);
      const label = this.label(stage, points.filter(([, v]) => v <= top && v >= stage.box[2]), NAMES[name] ?? name, taken);
      return [s("path", { class: `boundary line-${k % 5}`, d: stage.path(points) }), label];
    });
    const at = { p: this.values.p, q: this.values.q, z: this.values.z }[axis], near = at === undefined ? [] : [s("path", { class: "now", d: `M${stage.x(at)},0V${stage.height}` })];
    const dots = at === undefined ? [] : others.map(name => s("circle", { class: "dot", r: 5, cx: stage.x(at), cy: stage.y(nearest(x, curves[name], at)) }));
    stage.svg.replaceChildren(...stage.axes(names, true), ...near, ...lines.filter(line => line?.tagName === "path"), ...dots, ...lines.filter(line => line?.tagName === "text"));
    stage.svg.setAttribute("aria-label", this.sentence(request));
    one.table.show(curves);
    this.numbers(one, answer);
    stage.svg.dataset.drawn = String(Number(stage.svg.dataset.drawn ?? 0) + 1);
  }

  /** The name of a curve beside its highest visible point that is free of other names. */
  label(stage, points, words, taken) {
    const half = 3.7 * words.length + 6;
    for (const [a, b] of points.slice().sort((c, d) => d[1] - c[1])) {
      const x = stage.x(a), y = Math.max(16, stage.y(b) - 10);
      if (x < half + 44 || x > stage.width - half - 44 || taken.some(([u, v, w]) => Math.abs(u - x) < w + half && Math.abs(v - y) < 18)) continue;
      taken.push([x, y, half]);
      return stage.text(x, y, words, "label", "middle");
    }
  }

  numbers(one, { numbers, covers, seeks, minima }) {
    const rows = (heads, lines) => h("table", {}, heads && h("thead", {}, h("tr", {}, h("th", {}), heads.map(text => h("th", { scope: "col" }, text)))),
      h("tbody", {}, lines.map(([name, ...cells]) => h("tr", { "data-fact": name }, h("th", { scope: "row" }, name), cells.map(value => h("td", {}, shown(value)))))));
    const pick = names => names.map(name => [name, numbers[name].nats, numbers[name].bits]);
    if (one === this.figures?.[0]) one.numbers.replaceChildren(rows(["nats", "bits"], pick(["H(p)", "H(q)"])));
    else if (one.request === "beliefs") one.numbers.replaceChildren(rows(["nats", "bits"], pick(["H(p, q)", "KL(p‖q)", "KL(q‖p)"])));
    else if (one.request === "peaks") one.numbers.replaceChildren(rows(["mean", "deviation", "KL(p‖q)", "KL(q‖p)"], [["covers", ...Object.values(covers)], ["seeks", ...Object.values(seeks)]]));
    else one.numbers.replaceChildren(rows(null, Object.entries(numbers)));
    one.note.textContent = one === this.figures?.[0] ? "" : this.sentence(one.request) + (minima > 1 ? ` KL(q‖p) has ${minima} local minima; this is the least.` : "");
  }

  params() { return Object.fromEntries(KEYS.map(key => [key, this.values[key] === SLIDERS[key][4] ? null : this.values[key]])); }
  python() { return ["import numpy as np", "import separatrix as sx", "", "info = sx.information", ...["beliefs", "peaks", "heads"].flatMap(one => this.answers[one]?.python ?? [])].join("\n") + "\n"; }
  leave() { for (const one of this.pictures) one.leave(); }
}

/** The value of a curve at the place nearest to `at`. */
function nearest(x, values, at) {
  let best = 0;
  x.forEach((v, j) => { if (Math.abs(v - at) < Math.abs(x[best] - at)) best = j; });
  return values[best] ?? 1e6;
}

export const mount = (root, lab, params) => new Information(root, lab).start(params);
