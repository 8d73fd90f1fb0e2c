// The frame of all pages: navigation, the three acts of the head, messages, and the page that the address names.
import { h, icon } from "./dom.js";
import { keepFocus } from "./focus.js";
import * as link from "./link.js";
import { save } from "./picture.js";
import { LiveSource } from "./source.js";

const $ = query => document.querySelector(query), { dataset } = document.documentElement;
const embedded = $("#embedded") && await unpacked($("#embedded").textContent); // in a page without a server
const opening = embedded?.opening ?? await (await fetch("opening.json")).json();
const BEFORE_WRITING = 200; // milliseconds after the last change; browsers ignore writes that come too often
const CONNECTION = {
  live: null,
  lost: "The server has ended or does not answer. Start it again with: separatrix lab. The page then goes on by itself.",
  refused: "The server was started again. Open the address that it has printed; this page then goes on by itself.",
};
let current = null; // {name, page, own}; own is the lab as its page sees it

/** The source of a page that was left: nothing more is asked for it. */
const LEFT = { async ask() { throw Error(); }, latest: (name, payload, done) => done(null, null), stop() {} };
let writing = 0, address = null; // the timer of the next write, and the address of the current page

const lab = {
  opening,
  known: new Map(opening.models.map(one => [one.name, one])),
  source: embedded?.source(told) ?? new LiveSource(told),
  recorded: Boolean(embedded?.recorded),
  /** One sentence for screen readers. */
  say: text => { $("#say").textContent = text; },
  /** A sentence for everyone, such as the reason why something failed; null hides it. */
  notice: text => { $("#notice").hidden = !text; $("#notice span").textContent = text ?? ""; },
  /** Say which parts of a link mean nothing. */
  unknown(parts) { if (parts.length) this.notice(`These parts of the link were not used: ${parts.join(", ")}.`); },
  /** The points of a link; those of the preset, and a notice, if it names none. */
  begun(request, params, preset) {
    return this.source.ask(request, { points: link.toPoints(params, preset) }).catch(error => {
      this.notice(`${error.message} The page shows the first preset instead.`);
      return this.source.ask(request, { points: preset });
    });
  },
  /** Ask about the latest state of a page. It draws the answer, and its state goes into the address; an error is shown. */
  follow(page, request, payload, done = answer => { page.answer = answer; page.draw(); }) {
    return new Promise(resolve => this.source.latest(request, payload, (answer, error) => {
      if (error || page.failed) this.notice(error?.message ?? null);
      page.failed = Boolean(error);
      // Nothing is said of a state that has no answer; only a page that is not ready waits for it.
      if (answer || current.page !== page) resolve(answer && done(answer));
      if (answer) this.changed();
    }));
  },
  /** The page has changed: its state goes into the address. */
  changed: () => {
    clearTimeout(writing);
    writing = setTimeout(write, BEFORE_WRITING);
  },
};

/** Write the state of the page into the address, unless that names another page already, which is about to be shown. */
function write() {
  if (!current?.page) return;
  const text = link.text(current.name, current.page.params());
  if (embedded) return void embedded.changed?.(text);
  if (location.hash !== address) return;
  history.replaceState(null, "", text);
  address = location.hash;
}

function told({ state, name, progress }) {
  if (state && state !== dataset.connection) {
    if (state === "live" && current?.broken && dataset.connection) location.reload(); // Its script can be loaded now.
    if (dataset.connection) lab.notice(CONNECTION[state]);
    dataset.connection = state;
  }
  if (name !== undefined) busy(name, progress);
}

/** What has been computed for longer than a moment, with a button that stops it. */
function busy(name, progress) {
  const share = progress?.share ? ` ${Math.round(100 * progress.share)} %` : "";
  $("#busy").hidden = !name;
  $("#busy span").textContent = name ? `${current?.page?.doing?.(name) ?? "Computing"}${progress ? `:${share} ${progress.text}` : " …"}` : "";
  $("#busy button").onclick = () => lab.source.stop(name);
}

/** What a page without a server holds, with the source of its answers. */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), one => one.charCodeAt(0));
  const content = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  return (await import(`./${content.module}.js`)).embed(content, $("main"));
}

function navigation() {
  $("nav.pages").append(...opening.pages.map(({ name, title }) => h("a", { href: `#${name}` }, title)));
  $("#page-select").append(...opening.pages.map(({ name, title }) => h("option", { value: name }, title)));
}

async function copied(make, what) {
  let text;
  try { text = make(); } catch { return lab.notice("There is no answer yet that could be copied."); }
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    return lab.notice(`The browser does not let this page copy: ${text}`);
  }
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
  const act = (name, text, label, click) => h("button", { class: "plain", id: `act-${name}`, "aria-label": label, click }, icon(name), h("span", { class: "text" }, text));
  const menu = h("div", { class: "menu", hidden: true });
  const picture = act("picture", "Picture", "Save this picture as SVG or PNG", () => {
    menu.hidden = !menu.hidden;
    picture.ariaExpanded = !menu.hidden;
    if (!menu.hidden) menu.firstChild.focus();
  });
  const close = () => { menu.hidden = true; picture.ariaExpanded = false; picture.focus(); };
  picture.ariaExpanded = false;
  for (const kind of ["SVG", "PNG"]) menu.append(h("button", { click: () => {
    close();
    const shown = picturesOf(current.page).filter(one => one.svg.checkVisibility());
    if (shown[0]) save(shown, kind.toLowerCase(), `separatrix-${current.name}`);
    else lab.notice("There is no picture yet that could be saved.");
  } }, kind));
  menu.addEventListener("keydown", event => { if (event.key === "Escape") close(); });
  $(".acts").append(
    act("python", "Python", "Copy as Python", () => copied(() => current.page.python?.() ?? `${current.page.answer.python}\n`, "Python")),
    act("link", "Link", "Copy a link to this picture", () => { write(); copied(() => embedded ? link.text(current.name, current.page.params()) : location.href, "Link"); }),
    h("div", { class: "with-menu" }, picture, menu));
}

const picturesOf = page => [page?.pictures ?? page?.stage ?? []].flat();

/** Leave a page, if it is ready, and no longer watch the sizes of its pictures. */
function leave(page) {
  page?.leave?.();
  for (const one of picturesOf(page)) one.leave?.();
}

/** Show the page that the address names, with the state in the address. */
async function visit() {
  const { page, params } = link.read(embedded?.link ?? location.hash);
  const { name, title } = opening.pages.find(one => one.name === page) ?? opening.pages[0];
  clearTimeout(writing);
  address = location.hash;
  if (current) current.own.source = LEFT;
  leave(current?.page);
  lab.source.leave?.();
  lab.notice(CONNECTION[dataset.connection]);
  const own = { ...lab }, mine = current = { name, page: null, own }, root = h("div");
  // A page that was left before it was ready has nothing more to say. Until it is ready, all its notices stay.
  for (const act of ["say", "notice", "changed"]) own[act] = text => { if (current === mine) lab[act](act === "notice" && text && !mine.page ? `${$("#notice span").textContent.replace(text, "")} ${text}`.trim() : text); };
  for (const one of document.querySelectorAll("nav.pages a")) one.ariaCurrent = one.hash === `#${name}` ? "page" : null;
  $("#page-select").value = name;
  $("main").replaceChildren(root);
  document.title = `${title} · separatrix lab`;
  try {
    mine.page = await (await import(`./${name}.js`)).mount(root, own, params);
  } catch (error) {
    mine.broken = true;
    own.notice(`This page cannot be shown: ${error.message}`);
  }
  if (current !== mine) return leave(mine.page);
  if (mine.page) write();
}

/** The items that a text names, such as "V1 and V2 in the tour", as links to the server's pages of the tour. */
const toured = text => text.split(/\b([A-Z]\d+)\b/).map((part, k) => (k % 2 ? h("a", { href: `tour/${part}`, target: "_blank", rel: "noopener" }, part) : part));

/** The head of a page: its question, the sentence that says what to try, the tour, and its choices. */
lab.lead = (title, sentence, tour, ...choices) => h("div", { class: "lead" },
  h("div", {}, h("h1", {}, title), h("p", { class: "try" }, sentence, " ", h("span", { class: "tour" }, embedded ? tour : toured(tour))),
    embedded?.sentence && h("p", { class: "recorded" }, embedded.sentence)),
  h("div", { class: "choices" }, choices));

/** Go to another page. A page inside a notebook has no address of its own, and a recording has no other page. */
function go(hash) {
  if (!embedded) return void (location.hash = hash);
  if (!embedded.recorded) embedded.link = hash;
  visit();
}

$("#page-select").addEventListener("change", event => go(`#${event.target.value}`));
$("header").addEventListener("click", event => {
  const chosen = event.target.closest("a");
  if (!embedded || !chosen) return;
  event.preventDefault();
  go(chosen.getAttribute("href"));
});
$("#skip").addEventListener("click", event => { event.preventDefault(); $("#stage")?.focus(); });
$("#notice button").addEventListener("click", () => { lab.notice(null); $("#stage")?.focus(); });
addEventListener("hashchange", visit);
keepFocus($("main"));
navigation();
acts();
await visit();
dataset.ready = "true";
