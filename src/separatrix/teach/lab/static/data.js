// The page Your data: a table from a file, its check, a model with its held-out accuracy, its picture, a comparison.
import { drawRows } from "./data-drawing.js";
import { h, icon, select } from "./dom.js";
import * as link from "./link.js";
import { ModelCard } from "./models.js";
import { codeBlock, codeSection, counted, figureOf, layersOf, mainPicture, section, tableParts, tableRow, verdict } from "./parts.js";
import { Stage, badge } from "./stage.js";

const VIEWS = [["boundary", "the boundary's own plane"], ["fisher", "Fisher's axes"], ["columns", "two columns"]];
const MISSING = [["error", "are refused"], ["impute", "are filled"], ["indicator", "are filled and marked"], ["drop", "leave their row out"]];
const DOING = { fit: "Fitting", plane: "Drawing", check: "Checking", compare: "Comparing", report: "Making the report" };
const parts = text => { try { return text ? text.split(",").map(decodeURIComponent) : []; } catch { return []; } }; // a damaged link
const note = text => h("p", { class: "aside" }, text);

class YourData {
  constructor(root, lab) { Object.assign(this, { root, lab }); }

  async start(params) {
    const { models, unknown } = link.toModels(params, this.lab.known, 1, "logistic", ["t", "y", "x", "n", "s", "w", "a", "b"]);
    const read = link.reader(params, unknown), get = (key, words) => read(key, words[0][0], link.word(words.map(([word]) => word)));
    Object.assign(this, { model: models[0] ?? { name: "logistic", settings: {}, base: null }, target: params.get("y"), drop: parts(params.get("x")), missing: get("n", MISSING), standardise: params.get("s") === "1", view: get("w", VIEWS), first: params.get("a"), second: params.get("b") });
    this.lab.unknown(unknown);
    this.build();
    if (params.get("t")) await this.open("columns", { table: params.get("t") });
    return this;
  }

  build() {
    const { demos } = this.lab.opening;
    Object.assign(this, { told: h("p", { class: "verdict bad", role: "alert", hidden: true }), busy: h("p", { class: "working", role: "status", hidden: true }), choice: h("div", { class: "choices" }), views: h("div", { class: "row views" }), under: h("div"), findings: h("section", { class: "findings" }), compared: h("section", { class: "findings" }), about: h("section"), numbers: h("div"), acts: h("div", { class: "row made" }), code: codeBlock() });
    this.file = h("input", { type: "file", id: "file", "aria-label": "Table to open", change: event => this.upload(event.target.files[0]) });
    this.zone = h("div", { class: "zone" }, h("b", {}, "Drop a CSV here."), h("span", {}, "It stays on this machine."), this.file,
      select("Demo table", [["", "or a demo table"], ...demos.map(name => [name, name])], "", name => name && this.open("demo", { name })));
    this.svg = mainPicture("img", null);
    this.layers = layersOf(this.svg, "ground", "axes", "marks", "lines");
    const figure = figureOf(this.svg);
    this.card = new ModelCard(0, this.model, this.lab.known, () => this.fit());
    this.card.numbers.replaceWith(this.numbers);
    this.page = h("div", { hidden: true }, h("div", { class: "columns table" }, h("div", {}, this.views, figure, this.under),
      h("aside", { class: "rail", "aria-label": "Table and model" }, this.about, section("Model", this.card.element, this.acts),
        codeSection(this.code)), this.findings), this.compared);
    this.root.append(this.lab.lead("What does a line say about your table?", "Choose the column to predict, then a model: the rows held out say how well it works.", "E1 in the tour", this.choice), this.zone, this.told, this.busy, this.page);
    this.stage = new Stage(figure, this.svg, width => width < 520 ? 346 / 390 : 520 / 872, () => { if (this.answer) this.plane(); });
    this.drops = { dragover: event => event.preventDefault(), drop: event => { event.preventDefault(); this.upload(event.dataTransfer.files[0]); } };
    for (const [name, act] of Object.entries(this.drops)) document.addEventListener(name, act);
  }

  /** Tell why something failed; null hides it. */
  says(text) {
    this.told.hidden = !text;
    this.told.replaceChildren(icon("warn"), h("span", {}, text ?? ""));
  }

  /** The answer to a request, or null after an error, which is told. It does not wait for the check. */
  async asked(name, payload) {
    this.lab.source.stop("data.check");
    try {
      return await this.lab.source.ask(`data.${name}`, payload);
    } catch (error) {
      this.says(error.message);
      return null;
    }
  }

  upload(file) {
    const { most, words } = this.lab.opening.upload, sent = new XMLHttpRequest();
    if (!file) return;
    this.says(file.size > most ? words : null);
    if (file.size > most) return;
    sent.open("POST", `tables?name=${encodeURIComponent(file.name)}`);
    sent.upload.onprogress = event => this.working(`Sending ${file.name}`, event.loaded / event.total, () => sent.abort());
    sent.onloadend = () => {
      this.working(null);
      this.file.value = "";
      if (sent.status !== 200) return this.says(sent.status === 413 ? words : sent.responseText || "The file did not reach the server.");
      const { id, error } = JSON.parse(sent.responseText);
      if (error) this.says(error);
      else this.open("columns", { table: id });
    };
    sent.send(file);
  }

  /** Show a table: what was chosen before stays, as far as the table has it. */
  async open(name, payload) {
    this.says(null);
    const table = await this.asked(name, payload);
    if (!table) return;
    this.table = table;
    this.target = table.columns.includes(this.target) ? this.target : table.target;
    this.drop = this.drop.filter(one => table.columns.includes(one));
    this.page.hidden = true;
    this.clear();
    this.zone.classList.add("small");
    this.read();
    if (!this.target) this.choice.querySelector("select").focus();
  }

  /** The target, and how the table is read. */
  choices() {
    const { table } = this, names = table.columns.map(name => [name, name]);
    const check = (name, checked, change) => h("label", {}, h("input", { type: "checkbox", checked, change: event => change(event.target.checked) }), h("span", {}, name));
    const used = table.columns.filter(name => name !== this.target).map(name => check(name, !this.drop.includes(name), on => { this.drop = on ? this.drop.filter(one => one !== name) : [...this.drop, name]; this.read(); }));
    this.choice.replaceChildren(h("label", { class: "field" }, "Predict", select("Column to predict", this.target ? names : [["", "Choose a column"], ...names], this.target ?? "", name => { this.target = name || null; this.read(); })));
    this.about.replaceChildren(h("h2", {}, "Table"), h("p", { class: "file" }, table.name), this.size = h("p", { id: "size" }, table.size), ...table.notes.map(note),
      h("label", { class: "field" }, "Missing values", select("Missing values", MISSING, this.missing, how => { this.missing = how; this.read(); })),
      h("div", { class: "checks one" }, check("Standardise columns", this.standardise, on => { this.standardise = on; this.fit(); })),
      h("details", { class: "more", open: this.about.querySelector("details")?.open }, h("summary", {}, `Columns used: ${used.length - this.drop.length} of ${used.length}`), h("div", { class: "checks one" }, used)));
  }

  /** The table is read in another way: fit, draw, then check it. */
  read() {
    this.choices();
    this.checked = false;
    for (const one of [this.compared, this.findings]) one.replaceChildren();
    this.lab.changed();
    this.fit();
  }

  payload(more) {
    const { table, target, drop, missing, standardise, model } = this;
    return { table: table.id, target, drop: drop.filter(name => name !== target), missing, standardise, model, ...more };
  }

  fit() {
    if (!this.target) return;
    this.page.hidden = false;
    this.stage.resize();
    this.lab.source.stop("data.check");
    this.lab.source.latest("data.fit", this.payload(), (answer, error) => {
      if (!answer && !error) return;
      this.answer = answer;
      this.says(error?.message);
      this.lab.changed();
      if (!answer) { this.clear(); return this.check(); }
      this.show();
      this.plane();
    });
  }

  clear() {
    for (const one of [this.numbers, this.acts, this.under, this.views, ...Object.values(this.layers)]) one.replaceChildren();
    this.stage.marks([], []);
    this.code.textContent = "";
    this.svg.setAttribute("aria-label", "There is no fit to draw.");
  }

  show() {
    const { answer } = this, { met, text } = answer.verdict, act = (name, words, click) => h("button", { id: `data-${name}`, click }, words);
    this.size.textContent = answer.size;
    this.numbers.replaceChildren(h("dl", { class: "facts" }, answer.facts.map(([name, value], k) => [h("dt", {}, name), h("dd", { class: k ? null : "big", "data-number": name }, value)])), note(answer.beside),
      verdict(met, text), ...answer.notes.map(note));
    this.code.textContent = answer.python;
    this.acts.replaceChildren(act("compare", "Compare all", () => this.compare()), act("report", "Report", () => this.made("report")), act("model", "Model file", () => this.made("model")));
    this.turns();
    counted(this.svg, "fit");
  }

  /** The directions of the plane, and for two columns which. */
  turns() {
    const names = this.answer.columns.map(name => [name, name]), chosen = (key, words, k) => select(words, names, this[key] ?? names[k][0], name => { this[key] = name; this.plane(); });
    this.views.replaceChildren(h("label", { class: "field" }, "Plane", select("Plane", VIEWS, this.view, view => { this.view = view; this.turns(); this.plane(); })),
      ...(this.view === "columns" && names[1] ? [chosen("first", "To the right", 0), chosen("second", "Upwards", 1)] : []));
  }

  plane() {
    const { view, first, second, stage } = this;
    this.lab.source.latest("data.plane", this.payload({ view, first, second, aspect: stage.width / stage.height }), (drawn, error) => {
      if (error) this.says(error.message);
      if (drawn && this.answer) this.draw(drawn);
      this.check();
    });
  }

  draw(drawn) {
    drawRows(this.stage, this.layers, drawn);
    this.under.replaceChildren(h("ul", { class: "legend" }, this.answer.classes.map(({ k, text }) => h("li", {}, k === null ? "" : badge(k), h("span", {}, text)))), note(drawn.says));
    this.svg.setAttribute("aria-label", drawn.says);
    counted(this.svg);
    this.lab.changed();
  }

  /** The check of the table, once for every way to read it. */
  check() {
    if (this.checked) return;
    this.checked = true;
    const item = ({ severity, title, text }) => h("li", { class: severity }, icon(severity === "ok" ? "check" : "warn"), h("span", {}, h("b", {}, `${severity}: ${title}`), ` ${text}`));
    this.lab.source.latest("data.check", this.payload(), (answer, error) => {
      if (!answer && !error) return;
      this.checked = !error;
      if (error) return this.findings.replaceChildren(h("h2", {}, "Check"), h("p", {}, error.message, " ", h("button", { click: () => this.check() }, "Check again")));
      this.findings.replaceChildren(h("h2", {}, "Check"), h("ul", {}, answer.told.map(item)), h("details", { class: "more" }, h("summary", {}, `Fine: ${answer.fine.length}`), h("ul", {}, answer.fine.map(item))));
    });
  }

  async compare() {
    const answer = await this.asked("compare", this.payload());
    if (!answer) return;
    const row = ({ name, cells, chosen }) => tableRow({ class: chosen ? "chosen" : null, "data-name": name }, ...cells);
    this.compared.replaceChildren(h("h2", {}, answer.title), h("table", {}, tableParts(answer.head, answer.rows.map(row))), ...answer.notes.map(note));
    this.compared.scrollIntoView({ block: "nearest" });
    this.lab.say(answer.notes[0]);
  }

  /** Make a file on the server, then offer it. */
  async made(name) {
    const made = await this.asked(name, this.payload());
    if (!made) return;
    this.acts.querySelector("a")?.remove();
    const anchor = h("a", { href: made.address, ...(name === "model" ? { download: made.name } : { target: "_blank", rel: "noopener" }) }, name === "model" ? "Save the model" : "Open the report");
    this.acts.append(anchor);
    if (name === "model") anchor.click();
    else anchor.focus();
  }

  working(text, share, stop) {
    this.busy.hidden = !text;
    this.busy.replaceChildren(!text ? "" : typeof share === "number" ? `${text}: ${Math.round(100 * share)} %` : text, text ? h("button", { click: stop }, "Stop") : "");
  }

  /** What a long request does, for the frame. */
  doing(name) { return DOING[name.slice(5)] ?? "Reading"; }

  params() {
    const { table, target, drop, missing, standardise, view, first, second } = this, columns = view === "columns";
    return { ...link.fromModels([this.model]), t: table?.id, y: target, x: drop.map(encodeURIComponent).join(",") || null, n: missing === "error" ? null : missing, s: standardise ? 1 : null, w: view === "boundary" ? null : view, a: columns ? first : null, b: columns ? second : null };
  }

  leave() {
    for (const [name, act] of Object.entries(this.drops)) document.removeEventListener(name, act);
  }
}

export const mount = (root, lab, params) => new YourData(root, lab).start(params);
