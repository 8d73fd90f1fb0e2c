// The cards of models: which classifier, its settings, and the numbers of its fit. The forms come from the server.
import { fixed, h, icon, renew, s, select, short } from "./dom.js";
import { verdict } from "./parts.js";

const ORDINAL = ["First", "Second", "Third"];

/** The sample of a model's line. */
export const sample = k => s("svg", { class: "sample", viewBox: "0 0 34 10", "aria-hidden": "true" },
  s("path", { class: `boundary line-${k}`, d: "M2 5H32" }));

/** The card of model k. `lab.known` maps names to what the server offers; `changed()` is called after a choice. */
export class ModelCard {
  constructor(k, model, known, changed, remove) {
    Object.assign(this, { k, model, known, changed });
    this.numbers = h("div", { class: "numbers" });
    this.form = h("div", { class: "form" });
    const names = [...known.values()].map(one => [one.name, one.title]);
    const choose = name => {
      const first = known.get(name).base[0] ?? null;
      Object.assign(model, { name, settings: {}, base: first });
      this.#settings();
      changed();
    };
    const head = h("div", { class: "row" }, sample(k), select(`${ORDINAL[k]} model`, names, model.name, choose),
      remove && h("button", { class: "plain small", "aria-label": `Remove the ${ORDINAL[k].toLowerCase()} model`, click: remove }, icon("close")));
    this.element = h("div", { class: "model" }, head, this.form, this.numbers);
    this.#settings();
  }

  get info() { return this.known.get(this.model.name); }

  #settings() {
    const { info, model } = this, parts = [];
    if (info.base.length) {
      model.base ??= info.base[0];
      const options = info.base.map(name => [name, this.known.get(name).title]);
      const choose = name => { Object.assign(model, { base: name, settings: {} }); this.#settings(); this.changed(); };
      parts.push(h("label", { class: "field" }, "made of", select("Base model", options, model.base, choose)));
    }
    const settings = info.base.length ? this.known.get(model.base).settings : info.settings;
    const main = settings.find(one => one.slider && one.parameter !== "tol");
    if (main) parts.push(this.#field(main));
    const rest = settings.filter(one => one !== main);
    if (rest.length) parts.push(h("details", { class: "more", open: rest.some(one => one.parameter in model.settings) },
      h("summary", {}, "Settings"), rest.map(one => this.#field(one))));
    this.form.replaceChildren(...parts);
  }

  #set(setting, value) {
    if (value === setting.default || value === null) delete this.model.settings[setting.parameter];
    else this.model.settings[setting.parameter] = value;
    this.changed();
  }

  #field(setting) {
    const { parameter, help } = setting, now = this.model.settings[parameter] ?? setting.default;
    if (setting.slider) return this.#slider(setting, Number(now));
    let input;
    if (setting.kind === "switch") {
      input = h("input", { type: "checkbox", checked: String(now) === "true", change: event => this.#set(setting, event.target.checked) });
    } else if (setting.kind === "choice") {
      input = select(parameter, setting.words.map(word => [word ?? "", word ?? "none"]), now ?? "", value => this.#set(setting, value === (setting.default ?? "") ? null : value));
    } else {
      const given = parameter in this.model.settings ? this.model.settings[parameter] : "";
      input = h("input", { type: "text", inputmode: setting.kind === "text" ? null : "decimal", placeholder: setting.default ?? "none", value: given, change: event => this.#set(setting, event.target.value.trim() || null) });
    }
    return h("label", { class: "field", title: help }, parameter, input);
  }

  #slider(setting, now) {
    const { low, high, log } = setting.slider, to = log ? Math.log10 : Number, from = log ? e => Number((10 ** e).toPrecision(3)) : Number;
    const shown = h("output", {}, Number.isFinite(now) ? short2(now) : String(now));
    const input = h("input", {
      type: "range", min: to(low), max: to(high), step: log ? 0.05 : 0.01, "aria-valuetext": String(now),
      input: event => {
        const value = from(event.target.valueAsNumber);
        shown.textContent = short2(value);
        event.target.setAttribute("aria-valuetext", short2(value));
        this.#set(setting, value);
      },
    });
    input.value = now > 0 || !log ? to(now) : to(low);
    return h("label", { class: "slide", title: setting.help }, setting.parameter, input, shown);
  }

  /** Show the numbers of a fit, or why there is none. */
  show(fit, n) {
    if (fit.error) {
      renew(this.numbers, verdict(false, fit.error, "verdict bad"));
      return;
    }
    const facts = h("dl", { class: "facts" },
      h("dt", {}, "wrong"), h("dd", { class: "big", "data-number": "wrong" }, String(fit.wrong.length), h("small", {}, ` of ${n}`)),
      h("dt", { class: "math" }, "‖w‖"), h("dd", { "data-number": "norm" }, short(fit.norm)),
      h("dt", {}, "mean cost"), h("dd", { "data-number": "cost" }, short(fit.cost)));
    const { met, text } = fit.verdict;
    renew(this.numbers, facts, verdict(met, text));
  }
}

const short2 = value => Math.abs(value) >= 100 ? fixed(value, 0) : String(Number(value.toPrecision(3)));
