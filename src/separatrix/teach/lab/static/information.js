// The page Information: figures with sliders for entropy, KL, two peaks and σ. Their description comes from the server.
import { fixed, h, s } from "./dom.js";
import * as link from "./link.js";
import { clamp, codeBlock, codeSection, figureOf, placesOf, section } from "./parts.js";
import { undoButton } from "./point-choices.js";
import { Stage } from "./stage.js";
import { curveTable, factTable } from "./table.js";

class Information {
  constructor(root, lab) { Object.assign(this, { root, lab, values: {}, past: [], answers: {}, inputs: {} }); }

  async start(params) {
    const { sliders, figures } = await this.lab.source.ask("information.start", {});
    this.sliders = sliders;
    this.keys = Object.keys(sliders);
    this.requests = [...new Set(this.keys.map(key => sliders[key][0]))];
    const unknown = link.others(params, ...this.keys), read = link.reader(params, unknown);
    for (const key of this.keys) {
      const [, low, high, , first] = sliders[key];
      this.values[key] = read(key, first, link.number(low, high));
    }
    this.kept = { ...this.values };
    this.build(figures);
    await Promise.all(this.requests.map(one => this.ask(one)));
    this.lab.unknown(unknown);
    return this;
  }

  build(figures) {
    this.undoing = undoButton(false, () => this.undo());
    this.code = codeBlock();
    this.figures = figures.map((one, k) => this.figure(one, k));
    this.root.append(
      this.lab.lead("What does a wrong belief cost?", ["Move ", h("b", { class: "math" }, "q"), " until it costs nothing to believe it."], "V12 and V13 in the tour", this.undoing),
      h("div", { class: "pair charts" }, this.figures.map(one => one.element)), codeSection(this.code));
    this.pictures = this.figures.map(one => one.stage);
    for (const one of this.pictures) one.resize();
    this.root.addEventListener("keydown", event => { if (event.key === "z" && !event.ctrlKey && !event.metaKey) this.undo(); });
  }

  figure(one, k) {
    const svg = s("svg", { class: "stage", role: "img", id: k ? null : "stage", tabindex: k ? null : "-1" }), frame = figureOf(svg), [first] = one.sliders;
    Object.assign(one, { request: this.sliders[first][0], facts: h("div"), note: h("p", { class: "note" }), table: curveTable(one.title) });
    one.element = section(one.title, frame, one.sliders.map(key => this.slider(key)), one.facts, k > 0 && one.note, one.table);
    one.stage = new Stage(frame, svg, width => width < 520 ? 0.62 : 0.5, () => this.answers[one.request] && this.draw(one));
    one.stage.box = one.box;
    const move = event => { if (event.buttons) { const [x] = one.stage.at(event); this.set(first, one.times ? one.times * Math.abs(x) : x); } };
    svg.addEventListener("pointerdown", event => { svg.setPointerCapture(event.pointerId); move(event); });
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerup", () => this.keep());
    return one;
  }

  slider(key) {
    const [request, min, max, step, , words] = this.sliders[key], output = h("output");
    const input = h("input", { type: "range", min, max, step, name: key, input: event => this.set(key, event.target.valueAsNumber), change: () => this.keep(),
      keyup: event => { if (event.key !== "Tab" && event.key !== "z") this.ask(request).then(() => this.lab.say(this.answers[request].sentence)); } });
    this.inputs[key] = { input, output };
    this.write(key);
    return h("label", { class: "slide" }, h("span", { class: words.length < 2 ? "math" : null }, words), input, output);
  }

  write(key) {
    this.inputs[key].input.value = this.values[key];
    this.inputs[key].output.textContent = fixed(this.values[key], this.sliders[key][3] < 0.1 ? 2 : 1);
  }

  set(key, value) {
    const [request, low, high, step] = this.sliders[key];
    this.values[key] = Number(clamp(low + Math.round((value - low) / step) * step, low, high).toFixed(2));
    this.write(key);
    return this.ask(request);
  }

  /** A change is complete: remember the state before it. */
  keep() {
    if (this.keys.every(key => this.kept[key] === this.values[key])) return;
    this.past.push(this.kept);
    this.kept = { ...this.values };
    this.undoing.disabled = false;
  }

  undo() {
    if (!this.past.length) return;
    this.values = this.past.pop();
    this.kept = { ...this.values };
    this.undoing.disabled = !this.past.length;
    this.keys.forEach(key => this.write(key));
    Promise.all(this.requests.map(one => this.ask(one))).then(() => this.lab.say(`Undone. ${this.requests.map(one => this.answers[one].sentence).join(" ")}`));
  }

  ask(request) {
    return this.lab.follow(this, `information.${request}`, this.values, answer => {
      this.answers[request] = answer;
      for (const one of this.figures) if (one.request === request) this.draw(one);
      this.code.textContent = this.python();
    });
  }

  draw({ stage, request, part, axes, title, table, facts, note }) {
    const { parts, sentence } = this.answers[request], { curves, names, rows, heads, jump } = parts[part], [axis, ...others] = Object.keys(curves), x = curves[axis], now = this.values[axis];
    const value = (name, at) => curves[name][x.reduce((best, v, j) => Math.abs(v - at) < Math.abs(x[best] - at) ? j : best, 0)];
    const lines = others.map((name, k) => s("path", { class: `boundary line-${k}`, d: stage.path(placesOf(x, curves[name], name === jump)) }));
    const marks = now === undefined ? [] : [s("path", { class: "now", d: `M${stage.x(now)},0V${stage.height}` }), ...others.map(name => s("circle", { class: "dot", r: 5, cx: stage.x(now), cy: stage.y(value(name, now)) }))];
    const texts = Object.entries(names).map(([name, [at, right, down]]) => {
      const wide = 8 * name.length, place = clamp(stage.x(at) + right, right < 0 ? wide : 0, stage.width - (right > 0 ? wide : 0));
      return stage.text(place, stage.y(value(name, at)) + down, name, "label", right < 0 ? "end" : right ? "start" : "middle");
    });
    stage.svg.replaceChildren(...stage.axes([...axes]), ...lines, ...marks, ...texts);
    stage.svg.setAttribute("aria-label", `${title}. ${sentence}`);
    table.show(curves);
    facts.replaceChildren(factTable(rows, heads));
    note.textContent = sentence;
  }

  params() { return Object.fromEntries(this.keys.map(key => [key, this.values[key] === this.sliders[key][4] ? null : this.values[key]])); }
  python() { return ["import numpy as np", "import separatrix as sx", "", "info = sx.information", ...this.requests.flatMap(one => this.answers[one]?.python ?? []), ""].join("\n"); }
}

export const mount = (root, lab, params) => new Information(root, lab).start(params);
