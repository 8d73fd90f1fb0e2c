// An error surface: bands painted on a canvas, and over them axes, the path of a run, w, and the way downhill.
import { h, icon, s, select, short } from "./dom.js";
import { stepped } from "./limits.js";
import { clamp, figureOf } from "./parts.js";
import { ARROWS } from "./plane-keys.js";
import { Stage } from "./stage.js";

const DARKEST = 0.42, CONTOUR = 0.2; // Shares of ink: of the highest band, and of the lines between bands.
const ARROW = 84; // The longest arrow in pixels; one of ‖∇E‖ = 1 has half of it.

export const ZOOM = 1.5;
export const NAMES = ["b", "w₁", "w₂"];

/** Surface k of a page: the choice of its loss, the picture, and a sentence on the slope at w. */
export class Surface {
  constructor(page, k) {
    Object.assign(this, { page, k });
    this.svg = s("svg", { class: "stage", role: "application", tabindex: "0", "aria-roledescription": "error surface on which w can be moved", focus: () => page.activate(k), keydown: event => this.key(event), ...this.drag() });
    const figure = figureOf(this.svg), { losses } = page.chosen;
    this.facts = h("p");
    this.element = h("div", { class: "surface" }, select(k ? "Second loss" : "First loss", page.known.losses.map(name => [name, name]), losses[k], name => { losses[k] = name; page.choose({ losses }, true); }), figure, this.facts);
    this.stage = new Stage(figure, this.svg, () => 1, () => { if (this.bands) { this.paint(); this.draw(); } });
  }

  /** Paint the bands: the higher, the more ink. A surface with jumps is not interpolated. */
  paint() {
    const { points: n, heights, unit, bands, smooth, edges } = this.bands, { canvas, width } = this.stage;
    if (!width) return;
    const size = canvas.width = canvas.height = Math.round(width * Math.min(2, devicePixelRatio)), band = new Uint8Array(size * size);
    const high = new Uint16Array(Uint8Array.from(atob(heights), c => c.charCodeAt(0)).buffer), to = smooth ? Math.floor : Math.round, up = n * smooth;
    for (let i = 0, p = 0; i < size; i++) {
      const y = (size - i - 0.5) / size * (n - 1), a = to(y), f = y - a;
      for (let j = 0; j < size; j++, p++) {
        const x = (j + 0.5) / size * (n - 1), b = to(x), g = x - b, q = a * n + b;
        band[p] = Math.min(bands, ((1 - f) * ((1 - g) * high[q] + g * high[q + smooth]) + f * ((1 - g) * high[q + up] + g * high[q + up + smooth])) / unit + 1e-6);
      }
    }
    const context = canvas.getContext("2d"), image = context.createImageData(size, size), pixels = new Uint32Array(image.data.buffer);
    if (!this.svg.isConnected) return; // the page was left
    const ink = getComputedStyle(this.svg).getPropertyValue("--ink").match(/\w\w/g).reduceRight((all, one) => 256 * all + parseInt(one, 16), 0);
    for (let p = 0; p < pixels.length; p++) {
      const value = band[p], line = !edges.length && (((p + 1) % size && value !== band[p + 1]) || (p + size < pixels.length && value !== band[p + size]));
      pixels[p] = Math.round(255 * (DARKEST * value / bands + (line ? CONTOUR : 0))) << 24 | ink;
    }
    context.putImageData(image, 0, 0);
  }

  draw() {
    const { page, stage, svg, bands, facts } = this, { path, k, w } = page, [a, b] = page.answer.axes, { downhill: way, label, stuck, says } = page.answer.errors[this.k];
    stage.box = page.box ?? stage.box; // null until the answer with the new one is there
    const [x, y] = [stage.x(w[a]), stage.y(w[b])];
    const gone = path?.W.slice(0, k + 1).map(one => [one[a], one[b]]) ?? [];
    svg.replaceChildren(...(bands?.edges ?? []).map(line => s("path", { class: "edge", d: stage.path(line) })), ...stage.axes([NAMES[a], NAMES[b]]),
      s("path", { class: "margin", d: stage.path(gone) }), ...gone.map((one, j) => s("circle", { class: j ? "step-dot" : "ring", r: j ? 2.5 : 7, transform: stage.place(one) })),
      s("circle", { class: "halo", r: 11, cx: x, cy: y }),
      ...(way ? this.downhill(x, y, way) : [stage.text(x, y - 18, "no slope", "label", "middle")]),
      s("circle", { class: "dot", r: 5, cx: x, cy: y }));
    svg.setAttribute("aria-label", label);
    facts.className = stuck ? "verdict unmet" : "verdict";
    facts.replaceChildren(icon(stuck ? "warn" : "check"), h("span", {}, says, h("small", {}, bands ? `E is from ${short(bands.low)} to ${short(bands.high)} in this picture.` : "")));
  }

  downhill(x, y, [u, v]) {
    const { stage } = this, long = ARROW / (1 + Math.hypot(u, v)), [p, q] = [x + long * u, y - long * v];
    return [stage.arrow(x, y, p, q, "vector"), stage.text(p + (u < 0 ? -6 : 6), q + (v < 0 ? 16 : -6), "−∇E", "label math", u < 0 ? "end" : "start")];
  }

  drag() {
    const { page, k } = this, up = () => { held = false; page.choices(); };
    let held = false;
    const put = event => page.place(this.stage.at(event).map((value, i) => clamp(value, this.stage.box[2 * i], this.stage.box[2 * i + 1])));
    return { pointerdown: event => { held = true; this.svg.setPointerCapture(event.pointerId); page.activate(k); page.set.keep(); put(event); }, pointermove: event => { if (held) put(event); }, pointerup: up, pointercancel: up };
  }

  /** Arrows move w, + and − zoom, F shows all, R runs, Home goes back to the start of a run, Z undoes. */
  key(event) {
    const { page } = this, arrow = ARROWS[event.key];
    const act = { "+": () => page.ask({ zoom: 1 / ZOOM }), "-": () => page.ask({ zoom: ZOOM }), f: () => page.fit(), r: () => void page.run(), Home: () => page.reset(), z: () => page.set.undo() && page.moved(), Escape: () => void this.svg.blur() }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || !(arrow || act)) return;
    event.preventDefault();
    if (arrow && !event.repeat) page.set.keep();
    const done = arrow ? page.place(stepped(page.answer.axes.map(axis => page.w[axis]), arrow, event.shiftKey ? 1 : 0.1)) : act();
    done?.then?.(() => { page.choices(); page.lab.say(page.answer.errors[this.k].label); });
  }
}
