// The frame of all pages: navigation, the three acts of the head, messages, and the page that the address names.
import { h, icon } from "./dom.js";
import * as link from "./link.js";
import { save } from "./picture.js";
import { LiveSource } from "./source.js";

const $ = query => document.querySelector(query);
const opening = await (await fetch("opening.json")).json();
const BETWEEN_WRITES = 200; // milliseconds
let current = null; // {name, page}
let writing = 0, written = 0;

const lab = {
  opening,
  known: new Map(opening.models.map(one => [one.name, one])),
  source: new LiveSource(told),
  /** One sentence for screen readers. */
  say: text => { $("#say").textContent = text; },
  /** A sentence for everyone, such as the reason why something failed; null hides it. */
  notice: text => { $("#notice").hidden = !text; $("#notice").textContent = text ?? ""; },
  /** Ask, and call `done` with the latest answer; an error becomes a notice, which the next answer hides. */
  latest: (name, payload, done) => new Promise(resolve => lab.source.latest(name, payload, (answer, error) => {
    if (error || lab.failed) lab.notice(error?.message ?? null);
    lab.failed = Boolean(error);
    resolve(answer && done(answer));
  })),
  /** The page has changed: its state goes into the address. */
  changed: () => {
    clearTimeout(writing);
    const since = performance.now() - written;
    if (since > BETWEEN_WRITES) write();
    else writing = setTimeout(write, BETWEEN_WRITES - since);
  },
};

/** Write the state of the page into the address. Browsers ignore this if it happens too often. */
function write() {
  written = performance.now();
  if (current?.page) link.write(current.name, current.page.params());
}

function told({ state, name, progress, waiting }) {
  if (waiting !== undefined) document.documentElement.toggleAttribute("data-waiting", waiting);
  if (state) {
    document.documentElement.dataset.connection = state;
    lab.notice(state === "lost" ? "The server has ended or does not answer. Start it again with: separatrix lab" : null);
  }
  if (name) current?.page?.progress?.(name, progress);
}

function navigation() {
  const items = opening.pages.map(({ name, title }) => h("a", { href: `#${name}`, "aria-current": name === current.name ? "page" : null }, title));
  $("nav.pages").replaceChildren(...items);
  $("#page-select").replaceChildren(...opening.pages.map(({ name, title }) => h("option", { value: name, selected: name === current.name }, title)));
}

async function copied(text, what) {
  await navigator.clipboard.writeText(text);
  lab.say(`${what} copied.`);
  toast(`${what} copied`);
}

let hiding = 0;
function toast(text) {
  $(".toast")?.remove();
  clearTimeout(hiding);
  document.body.append(h("p", { class: "toast", "aria-hidden": "true" }, text));
  hiding = setTimeout(() => $(".toast")?.remove(), 1600);
}

function acts() {
  const act = (name, text, label, click) => h("button", { class: "plain", type: "button", id: `act-${name}`, "aria-label": label, click }, icon(name), h("span", { class: "text" }, text));
  const menu = h("div", { class: "menu", hidden: true });
  const picture = act("picture", "Picture", "Save this picture as SVG or PNG", () => {
    menu.hidden = !menu.hidden;
    picture.setAttribute("aria-expanded", String(!menu.hidden));
    if (!menu.hidden) menu.firstChild.focus();
  });
  picture.setAttribute("aria-expanded", "false");
  for (const kind of ["SVG", "PNG"]) menu.append(h("button", { type: "button", click: () => {
    menu.hidden = true;
    picture.focus();
    save(current.page.stage, kind.toLowerCase(), `separatrix-${current.name}`);
  } }, kind));
  menu.addEventListener("keydown", event => { if (event.key === "Escape") { menu.hidden = true; picture.focus(); } });
  $(".acts").append(
    act("python", "Python", "Copy as Python", () => copied(current.page.python(), "Python")),
    act("link", "Link", "Copy a link to this picture", () => { write(); copied(location.href, "Link"); }),
    h("div", { class: "with-menu" }, picture, menu));
}

/** Show the page that the address names, with the state in the address. */
async function visit() {
  const { page, params } = link.read();
  const name = opening.pages.some(one => one.name === page) ? page : opening.pages[0].name;
  clearTimeout(writing);
  current?.page?.leave?.();
  current = { name, page: null };
  navigation();
  const module = await import(`./${name}.js`);
  const main = $("main");
  main.replaceChildren();
  document.title = `${opening.pages.find(one => one.name === name).title} · separatrix lab`;
  const mounted = await module.mount(main, lab, params);
  if (current.name === name) current.page = mounted;
  write();
}

/** The head of a page: its question, the sentence that says what to try, the tour, and its choices. */
lab.lead = (title, sentence, tour, ...choices) => h("div", { class: "lead" },
  h("div", {}, h("h1", {}, title), h("p", { class: "try" }, sentence, " ",
tour && h("span", { class: "tour" }, tour))),
  h("div", { class: "choices" }, choices));

$("#page-select").addEventListener("change", event => { location.hash = event.target.value; });
$("#skip").addEventListener("click", event => { event.preventDefault(); $("#stage")?.focus(); });
addEventListener("hashchange", visit);
acts();
await visit();
document.documentElement.dataset.ready = "true";
