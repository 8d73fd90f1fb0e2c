// HTML and SVG elements. Every string becomes text, never markup.
const SVG = "http://www.w3.org/2000/svg";

/** An HTML element: attributes (functions are event listeners), then children (strings become text). No button submits a form. */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), tag === "button" ? { type: "button", ...attributes } : attributes, children);
}

/** The same for SVG. */
export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value != null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter(child => child != null && child !== false));
  return element;
}

/** A number with a real minus sign; −0.00 is written 0.00. Very long ones have a power of ten; a missing one is "none". */
export function fixed(value, digits = 2) {
  if (value == null) return "none";
  const shown = Math.abs(value) < 0.5 * 10 ** -digits ? 0 : value, long = digits > 9 || Math.abs(value) >= 1e9;
  return (long && shown ? shown.toExponential(1) : shown.toFixed(long ? 0 : digits)).replaceAll("-", "−");
}

/** A number with three significant digits or so, short enough for a small card. */
export function short(value) {
  const size = Math.abs(value);
  return fixed(value, size && (size >= 1e5 || size < 1e-3) ? 300 : size >= 100 ? 1 : 3);
}

const ICONS = {
  python: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  link: "M6.5 9.5 9.5 6.5M7 4.5l1.6-1.6a3 3 0 0 1 4.3 4.3L11.2 8.8M9 11.5l-1.6 1.6a3 3 0 0 1-4.3-4.3L4.8 7.2",
  picture: "M8 2.5v7M5 7l3 3 3-3M3 13.5h10",
  check: "M3 8.5 6.5 12 13 4",
  warn: "M8 3v6M8 12.2v.3",
  undo: "M6 3 2.5 6.5 6 10M3 6.5h6.5a3.5 3.5 0 0 1 0 7H7",
  close: "M4 4l8 8M12 4l-8 8",
};

/** A line icon of 16 px, and a solid one. */
export const icon = (name, kind = "icon", d = ICONS[name]) => s("svg", { class: kind, viewBox: "0 0 16 16", "aria-hidden": "true" }, s("path", { d }));
export const solid = path => icon("", "icon solid", path);

/** A group of buttons of which one is pressed: items are {value, label: nodes, name: accessible name}. */
export function segmented(name, items, current, choose) {
  const group = h("div", { class: "segmented", role: "group", "aria-label": name });
  for (const item of items) {
    const pressed = String(item.value === current);
    const act = () => choose(item.value);
    group.append(h("button", { "aria-pressed": pressed, "aria-label": item.name, click: act }, item.label));
  }
  return group;
}

/** A select: options are [value, text]. */
export function select(name, options, current, choose) {
  const made = options.map(([value, text]) => h("option", { value, selected: value === current }, text));
  return h("select", { "aria-label": name, change: event => choose(event.target.value) }, made);
}

/** Give a place without controls new children. Only what differs is changed, so that the browser lays out little again. */
export function renew(place, ...children) { renewed(place, filled(place.cloneNode(false), {}, children)); }

function renewed(old, made) {
  if (old.nodeType === Node.TEXT_NODE && made.nodeType === Node.TEXT_NODE) {
    if (old.data !== made.data) old.data = made.data;
  } else if (!old.cloneNode(false).isEqualNode(made.cloneNode(false))) old.replaceWith(made);
  else if (old.childNodes.length !== made.childNodes.length) old.replaceChildren(...made.childNodes);
  else {
    const parts = [...made.childNodes];
    [...old.childNodes].forEach((one, k) => renewed(one, parts[k]));
  }
}

/** The function, called at once if the last call was long ago, else once when enough time has passed. */
export function seldom(act, milliseconds = 100) {
  let last = -Infinity, waiting = 0;
  const now = () => { waiting = 0; last = performance.now(); act(); };
  return () => {
    const wait = last + milliseconds - performance.now();
    if (wait <= 0) { clearTimeout(waiting); now(); } else waiting ||= setTimeout(now, wait);
  };
}
