// The page Your data: a table from a file, its check, a model with its held-out accuracy, its picture, a comparison.
import { drawRows } from "./data-drawing.js";
import { comparison, findings, percent } from "./data-lists.js";
import { fixed, h, icon, s, select } from "./dom.js";
import * as link from "./link.js";
import { ModelCard } from "./models.js";
import { Stage, badge } from "./stage.js";

const VIEWS = [["boundary", "the boundary's own plane"], ["fisher", "Fisher's axes"], ["columns", "two columns"]];
const MISSING = [["error", "are refused"], ["impute", "are filled"], ["indicator", "are filled and marked"], ["drop", "leave their row out"]];
const DOING = { fit: "Fitting", plane: "Drawing", check: "Checking", compare: "Comparing", report: "Making the report", model: "Writing the model", columns: "Reading", demo: "Reading" };
const listed = text => (text ? text.split(",").map(decodeURIComponent) : []);

class YourData {
  constructor(root, lab) { Object.assign(this, { root, lab, table: null, drop: [], missing: "error", view: "boundary" }); }

  async start(params) {
    const { models, unknown } = link.toModels(params, this.lab.known, 1, "logistic", ["t", "y", "x", "n", "s", "w", "a", "b"]);
    this.model = models[0] ?? { name: "logistic", settings: {}, base: null };
    if (unknown.length) this.lab.notice(`The link has parts that this version does not know: ${unknown.join(", ")}.`);
    const get = (key, words, first) => (words.some(([word]) => word === params.get(key)) ? params.get(key) : first);
    Object.assign(this, { target: params.get("y"), drop: listed(params.get("x")), missing: get("n", MISSING, "error"), standardise: params.get("s") === "1", view: get("w", VIEWS, "boundary"), first: params.get("a"), second: params.get("b") });
    const { demos, table } = await this.asked("start", { table: params.get("t") });
    this.demos = demos ?? [];
    this.build();
    if (params.get("t") && !table) this.says("The server no longer has this table. Give the file again; the settings of the link stay.");
    if (table) this.opened(table);
    return this;
  }

  /** The answer to a request, or {} after an error, which the page tells. */
  async asked(name, payload) {
    try {
      return await this.lab.source.ask(`data.${name}`, payload);
    } catch (error) {
      this.says?.(error.message);
      return {};
    }
  }

  build() {
    this.file = h("input", { type: "file", id: "file", "aria-label": "Table to open", change: event => { if (event.target.files[0]) this.upload(event.target.files[0]); } });
    this.zone = h("div", { class: "zone" }, h("b", {}, "Drop a CSV here."), h("span", {}, "It stays on this machine."), this.file,
      select("Demo table", [["", "or a demo table"], ...this.demos.map(name => [name, name])], "", name => name && this.demo(name)));
    this.told = h("p", { class: "verdict bad", role: "alert", hidden: true });
    this.busy = h("p", { class: "working", role: "status", hidden: true });
    this.choice = h("div", { class: "choices" });
    this.svg = s("svg", { id: "stage", class: "stage", role: "img", tabindex: "0", "aria-label": "No table yet" });
    this.layers = Object.fromEntries(["ground", "axes", "marks", "lines", "over"].map(name => [name, s("g", { class: name })]));
    this.svg.append(...Object.values(this.layers));
    const figure = h("figure", { class: "plane" }, this.svg);
    Object.assign(this, { views: h("div", { class: "row views" }), under: h("div", { class: "reading" }), lists: h("section", { class: "findings", "aria-label": "Check" }), compared: h("section", { "aria-label": "Comparison" }), about: h("section"), numbers: h("div", { class: "numbers" }), acts: h("div", { class: "row made" }), code: h("pre", { tabindex: "0", "aria-label": "The same in Python" }) });
    this.card = new ModelCard(0, this.model, this.lab.known, () => this.fit());
    this.card.numbers.replaceWith(this.numbers);
    this.page = h("div", { class: "columns", hidden: true },
      h("div", {}, this.views, figure, this.under, this.compared, this.lists),
      h("aside", { class: "rail", "aria-label": "Table and model" }, this.about,
        h("section", {}, h("h2", {}, "Model"), this.card.element, this.acts),
        h("section", {}, h("h2", {}, "The same in Python"), this.code)));
    this.root.append(this.lab.lead("What does a line say about your table?", ["Choose the column to predict, then a model: the rows held out say how well it works."], "The guide has the same for the command line: separatrix fit", this.choice), this.zone, this.told, this.busy, this.page);
    this.stage = new Stage(figure, this.svg, width => width < 520 ? 346 / 390 : 520 / 872, () => { if (this.answer) this.plane(); });
    this.drops = { dragover: event => event.preventDefault(), drop: event => { event.preventDefault(); if (event.dataTransfer.files[0]) this.upload(event.dataTransfer.files[0]); } };
    for (const [name, act] of Object.entries(this.drops)) document.addEventListener(name, act);
  }

  /** Tell why something failed, where the page shows it; null hides it. */
  says(text) {
    this.told.hidden = !text;
    this.told.replaceChildren(icon("warn"), h("span", {}, text ?? ""));
  }

  upload(file) {
    const most = this.lab.opening.largest_upload, megabytes = bytes => `${fixed(bytes / 2 ** 20, 0)} MB`;
    const large = `${file.name} has ${megabytes(file.size)}; the page takes at most ${megabytes(most)}. Start the lab with the file instead, which reads it where it is: separatrix lab FILE`;
    this.says(null);
    if (file.size > most) return this.says(large);
    const sent = new XMLHttpRequest();
    sent.open("POST", `tables?name=${encodeURIComponent(file.name)}`);
    sent.upload.onprogress = event => this.working(`Reading ${file.name}: ${percent(event.loaded / Math.max(1, event.total))}`, () => sent.abort());
    sent.onerror = () => { this.working(null); this.says("The file did not reach the server."); };
    sent.onabort = () => this.working(null);
    sent.onload = async () => {
      this.working(null);
      if (sent.status !== 200) return this.says(sent.status === 413 ? large : sent.getResponseHeader("Content-Type").includes("json") ? JSON.parse(sent.responseText).error : sent.responseText);
      const table = await this.asked("columns", { table: JSON.parse(sent.responseText).id });
      if (table.id) this.opened(table);
    };
    sent.send(file);
    this.file.value = "";
  }

  async demo(name) {
    this.says(null);
    const table = await this.asked("demo", { name });
    if (table.id) this.opened(table);
  }

  /** Show a table: what was chosen before stays, as far as the table has it. */
  opened(table) {
    this.table = table;
    this.target = table.columns.includes(this.target) ? this.target : table.target;
    this.drop = this.drop.filter(name => table.columns.includes(name));
    this.answer = this.checked = null;
    this.page.hidden = true;
    for (const part of [this.compared, this.lists, this.under, this.numbers, this.acts]) part.replaceChildren();
    this.choices();
    this.lab.changed();
    if (this.target) this.read();
    else this.choice.querySelector("select").focus();
  }

  choices() {
    const { table } = this, names = table.columns.map(name => [name, name]);
    const target = select("Column to predict", this.target ? names : [["", "Choose the column to predict"], ...names], this.target ?? "", name => { if (name) { this.target = name; this.read(); } });
    this.choice.replaceChildren(h("label", { class: "field" }, "Predict", target));
    this.zone.classList.add("small");
    const used = table.columns.filter(name => name !== this.target).map(name => h("label", {}, h("input", { type: "checkbox", checked: !this.drop.includes(name), change: event => {
      this.drop = event.target.checked ? this.drop.filter(one => one !== name) : [...this.drop, name];
      this.read();
    } }), h("span", {}, name)));
    this.size = h("p", { "data-number": "size" }, `${table.all} columns`);
    this.about.replaceChildren(h("h2", {}, "Table"), h("p", { class: "name" }, table.name), this.size, ...table.notes.map(note => h("p", { class: "small-note" }, note)),
      h("label", { class: "field" }, "Missing values", select("Missing values", MISSING, this.missing, how => { this.missing = how; this.read(); })),
      h("label", { class: "field" }, "Standardise columns", h("input", { type: "checkbox", checked: this.standardise, change: event => { this.standardise = event.target.checked; this.fit(); } })),
      h("details", { class: "more", open: this.about.querySelector("details")?.open }, h("summary", {}, `Columns used: ${used.length - this.drop.length} of ${used.length}`), h("div", { class: "checks one" }, used)));
  }

  /** The table is read in another way: fit, then check it. */
  read() {
    this.choices();
    this.checked = false;
    this.compared.replaceChildren();
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
      this.says(error?.message);
      this.lab.changed();
      this.svg.dataset.fits = String(Number(this.svg.dataset.fits ?? 0) + 1);
      if (!answer) {
        this.answer = null;
        this.clear();
        return this.check();
      }
      this.answer = answer;
      this.show();
      this.plane();
    });
  }

  clear() {
    for (const part of [this.numbers, this.acts, this.under, this.views, ...Object.values(this.layers)]) part.replaceChildren();
    this.stage.marks([], []);
    this.code.textContent = "";
    this.svg.setAttribute("aria-label", "There is no fit to draw.");
  }

  show() {
    const { answer } = this, held = answer.held_out, { met, text } = answer.verdict;
    this.size.textContent = `${answer.rows.toLocaleString("en")} rows, ${this.table.all} columns${answer.encoded === this.table.all - 1 ? "" : `, ${answer.encoded} after encoding`}`;
    const facts = held && h("dl", { class: "facts" },
      h("dt", {}, "held out"), h("dd", { class: "big", "data-number": "accuracy" }, percent(held.accuracy, 1)),
      h("dt", {}, "95 % interval"), h("dd", { "data-number": "interval" }, `${percent(held.low, 1)} to ${percent(held.high, 1)}`),
      h("dt", {}, "wrong"), h("dd", { "data-number": "wrong" }, String(held.wrong), h("small", {}, ` of ${held.rows.toLocaleString("en")}`)));
    this.numbers.replaceChildren(facts ?? "No row is held out.", held ? h("p", { class: "small-note" }, `Always the most frequent class: ${percent(held.majority, 1)}. Fitted to ${answer.fitted.toLocaleString("en")} rows.`) : "",
      h("p", { class: met ? "verdict" : "verdict unmet" }, icon(met ? "check" : "warn"), h("span", {}, text)), ...answer.notes.map(note => h("p", { class: "small-note" }, note)));
    this.code.textContent = answer.python;
    const act = (name, text, click) => h("button", { type: "button", id: `data-${name}`, click }, text);
    this.acts.replaceChildren(act("compare", "Compare all", () => this.compare()), act("report", "Report", () => this.made("report")), act("model", "Model file", () => this.made("model")));
    this.turns();
  }

  /** The plane: which directions, and for two columns which. */
  turns() {
    const names = this.answer.columns.map(name => [name, name]), chosen = (key, k) => select(k ? "Upwards" : "To the right", names, this[key] ?? names[k]?.[0], name => { this[key] = name; this.plane(); });
    this.views.replaceChildren(h("label", { class: "field" }, "Plane", select("Plane", VIEWS, this.view, view => { this.view = view; this.turns(); this.plane(); })),
      ...(this.view === "columns" && names.length > 1 ? [chosen("first", 0), chosen("second", 1)] : []));
  }

  plane() {
    const { view, first, second, stage } = this;
    this.lab.source.latest("data.plane", this.payload({ view, first, second, aspect: stage.width / stage.height }), (drawn, error) => {
      if (error) this.says(error.message);
      if (drawn && this.answer) { this.drawn = drawn; this.draw(); this.lab.changed(); }
      this.check();
    });
  }

  draw() {
    const { drawn, answer } = this;
    drawRows(this);
    const marks = h("ul", { class: "legend" }, answer.classes.slice(0, 12).map(one => h("li", {}, badge(one.k), h("span", {}, one.label), h("small", {}, one.rows.toLocaleString("en")))), answer.classes.length > 12 ? h("li", {}, `and ${answer.classes.length - 12} more classes`) : "");
    const cells = drawn.cells && ` Each hexagon has the colour of its most frequent class, the paler the smaller that class's share, and its area is the number of rows; ringed ones are mostly mistakes.`;
    this.under.replaceChildren(marks, h("p", { class: "small-note" }, `${drawn.says} ${this.sentence()}${cells ?? ""}`));
    this.svg.setAttribute("aria-label", `${this.sentence()} ${drawn.says}`);
    this.svg.dataset.drawn = String(Number(this.svg.dataset.drawn ?? 0) + 1);
  }

  sentence() {
    const { drawn } = this;
    return `The model gets ${drawn.wrong.toLocaleString("en")} of all ${drawn.rows.toLocaleString("en")} rows wrong, fitted and held out${drawn.cells ? "" : "; they are ringed"}.`;
  }

  /** The check of the table, once for every way to read it. */
  check() {
    if (this.checked) return;
    this.checked = true;
    this.lab.source.latest("data.check", this.payload(), (answer, error) => {
      if (error) { this.checked = false; return this.lists.replaceChildren(h("h2", {}, "Check"), h("p", {}, error.message, " ", h("button", { type: "button", click: () => this.check() }, "Check the table"))); }
      this.lists.replaceChildren(...findings(answer));
    });
  }

  async compare() {
    const answer = await this.asked("compare", this.payload());
    if (!answer.rows) return;
    this.compared.replaceChildren(...comparison(answer, this.lab.known));
    this.compared.scrollIntoView({ block: "nearest" });
    this.lab.say(answer.why);
  }

  /** Make a file on the server, then offer it. */
  async made(name) {
    const made = await this.asked(name, this.payload());
    if (!made.address) return;
    const anchor = name === "model" ? h("a", { href: made.address, download: made.name }, "Save the model") : h("a", { href: made.address, target: "_blank", rel: "noopener" }, "Open the report");
    anchor.id = `made-${name}`;
    this.acts.querySelector(`#made-${name}`)?.remove();
    this.acts.append(anchor);
    if (name === "model") anchor.click();
    else anchor.focus();
  }

  working(text, stop) {
    this.busy.hidden = !text;
    this.busy.replaceChildren(text ?? "", stop ? h("button", { type: "button", click: stop }, "Stop") : "");
  }

  progress(name, progress) {
    const what = name.slice(5);
    if (!progress || !this.busy) return this.busy && this.working(null);
    this.working(`${DOING[what]}:${progress.share === null ? "" : ` ${percent(progress.share)},`} ${progress.text} `, () => this.lab.source.stop(name));
  }

  params() {
    const { table, target, drop, missing, standardise, view, first, second } = this, columns = view === "columns";
    return { ...link.fromModels([this.model]), t: table?.id, y: target, x: drop.length ? drop.map(encodeURIComponent).join(",") : null, n: missing === "error" ? null : missing, s: standardise ? 1 : null, w: view === "boundary" ? null : view, a: columns ? first : null, b: columns ? second : null };
  }

  python() { return this.answer ? `${this.answer.python}\n` : "import separatrix as sx\n"; }
  leave() {
    this.stage.leave();
    for (const [name, act] of Object.entries(this.drops)) document.removeEventListener(name, act);
  }
}

export const mount = (root, lab, params) => new YourData(root, lab).start(params);
