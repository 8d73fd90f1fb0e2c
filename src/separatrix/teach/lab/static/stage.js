// The picture: scales between the plane and pixels, axes, marks of classes. No mathematics of models lives here.
import { fixed, s } from "./dom.js";
import { limited, movable, snapped } from "./limits.js";
import { clamp } from "./parts.js";

export const SHAPE_NAMES = ["blue ●", "orange ■", "green ▲", "purple ◆", "grey ▼", "violet ✚"];
export const COLOURS = ["blue", "orange", "green", "purple", "grey", "violet"];
const SVG_POINTS = 500; // Above this number, points are drawn on a canvas.

/** Pointer moves as they happen, where the browser offers them, instead of once a frame: models come a frame earlier. */
export const MOVE = "onpointerrawupdate" in window ? "pointerrawupdate" : "pointermove";

/** The outline of a class's mark around a place. A browser paints many transforms slowly, so places are written out. */
export function outline(k, r, x = 0, y = 0) {
  const q = 0.9 * r, t = 1.15 * r, u = 0.36 * r, v = r - u, d = 1.2 * r;
  return `M${x.toFixed(2)},${y.toFixed(2)}` + [
    `m${r},0a${r},${r},0,1,1,${-2 * r},0a${r},${r},0,1,1,${2 * r},0z`,
    `m${-q},${-q}h${2 * q}v${2 * q}h${-2 * q}z`,
    `m0,${-t}l${t},${t + 0.8 * r}h${-2 * t}z`,
    `m0,${-d}l${d},${d}l${-d},${d}l${-d},${-d}z`,
    `m0,${t}l${t},${-t - 0.8 * r}h${-2 * t}z`,
    `m${-u},${-r}h${2 * u}v${v}h${v}v${2 * u}h${-v}v${v}h${-2 * u}v${-v}h${-v}v${-2 * u}h${v}z`,
  ][k];
}

/** A small mark of a class beside text. */
export const badge = (k, size = 14) =>
  s("svg", { class: "badge", width: size, height: size, viewBox: "-8 -8 16 16", "aria-hidden": "true" },
    s("path", { class: `class-${k}`, d: outline(k, 6) }));

/** An SVG with a canvas below it, both as large as their figure. `box` is [left, right, low, high]. */
export class Stage {
  #frame = null;

  constructor(figure, svg, aspect, drawn) {
    this.figure = figure;
    this.svg = svg;
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    figure.prepend(this.canvas);
    this.box = [-5, 5, -3, 3];
    this.aspect = aspect;
    this.drawn = drawn;
    this.width = this.height = 1; // until the figure is on the page
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(figure);
    this.resize();
  }

  get small() { return this.width < 520; }
  get radius() { return this.small ? 5.2 : 6.5; }

  resize() {
    const width = Math.round(this.figure.clientWidth);
    const height = Math.round(width * this.aspect(limited() ? Infinity : width)); // Recorded pictures are wide.
    if (!width || (width === this.width && height === this.height)) return;
    this.width = width;
    this.height = height;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("height", height);
    if (this.points) this.show(this.points);
    this.drawn?.();
  }

  /** Choose the box that shows these places with equal units on both axes. */
  show(points) {
    this.points = limited() ? [...points] : points; // The recorded box does not follow a point.
    const xs = points.map(p => p[0]), ys = points.map(p => p[1]);
    if (!points.length) { xs.push(-3, 3); ys.push(-2, 2); }
    const [l, r] = [Math.min(...xs), Math.max(...xs)], [lo, hi] = [Math.min(...ys), Math.max(...ys)];
    const unit = Math.max((r - l + 1) / (0.84 * this.width), (hi - lo + 1) / (0.78 * this.height), 1e-3);
    const cx = (l + r) / 2, cy = (lo + hi) / 2, w = unit * this.width / 2, v = unit * this.height / 2;
    this.box = [cx - w, cx + w, cy - v, cy + v];
  }

  x(value) { return (value - this.box[0]) / (this.box[1] - this.box[0]) * this.width; }
  y(value) { return (this.box[3] - value) / (this.box[3] - this.box[2]) * this.height; }

  /** Where the picture is in the window, measured once a frame, since measuring makes the browser lay out the page. */
  get frame() {
    if (!this.#frame) requestAnimationFrame(() => { this.#frame = null; });
    return this.#frame ??= this.svg.getBoundingClientRect();
  }

  /** The place in the plane under the pointer. */
  at(event) {
    const { frame } = this, [l, r, lo, hi] = this.box;
    const u = (event.clientX - frame.x) / frame.width, v = (event.clientY - frame.y) / frame.height;
    return snapped([l + u * (r - l), hi - v * (hi - lo)]);
  }

  /** The number of the point nearest to the pointer, within `reach` pixels, or −1. */
  hit(event, points, reach = 22) {
    const { frame } = this;
    const px = event.clientX - frame.x, py = event.clientY - frame.y;
    let best = -1, near = reach * reach;
    points.forEach(([x, y], k) => {
      const d = (this.x(x) - px) ** 2 + (this.y(y) - py) ** 2;
      if (d <= near && movable(k)) { near = d; best = k; }
    });
    return best;
  }

  path(points, closed = false) {
    return points.map(([x, y], k) => `${k ? "L" : "M"}${this.x(x).toFixed(1)},${this.y(y).toFixed(1)}`).join("") + (closed ? "Z" : "");
  }

  /** The ground of a class: one or more outlines, with holes. */
  region({ k, rings }) { return s("path", { class: `ground class-${k}`, "fill-rule": "evenodd", d: rings.map(ring => this.path(ring, true)).join("") }); }

  text(x, y, words, kind, anchor = "start") { return s("text", { x, y, class: kind, "text-anchor": anchor }, words); }

  /** Grid, axes, ticks and the names of the axes. */
  axes(names = ["x₁", "x₂"]) {
    const [l, r, lo, hi] = this.box, made = [], w = this.width, v = this.height;
    const count = this.small ? 6 : 9, text = (value, size) => fixed(value, size < 1 ? Math.ceil(-Math.log10(size)) : 0);
    for (const [value, size] of ticks(l, r, (r - l) / count)) {
      const at = this.x(value);
      made.push(s("path", { class: value ? "grid" : "axis", d: `M${at},0V${v}` }));
      if (at > 24 && at < w - 44) made.push(this.text(at + 4, v - 7, text(value, size), "tick"));
    }
    for (const [value, size] of ticks(lo, hi, (hi - lo) * w / v / count)) {
      const at = this.y(value);
      made.push(s("path", { class: value ? "grid" : "axis", d: `M0,${at}H${w}` }));
      if (at > 28 && at < v - 28) made.push(this.text(w - 12, at - 4, text(value, size), "tick", "end"));
    }
    const zero = this.y(0), above = zero + 18 > v - 24; // The name stands above an axis that has no room below it, beside its 0.
    made.push(this.text(w - (above && zero < v - 28 ? 34 : 12), above ? clamp(zero - 6, 44, v - 24) : Math.max(zero + 18, 44), names[0], "name", "end"));
    made.push(this.text(clamp(this.x(0) - 8, 26, w - 60), 18, names[1], "name", "end"));
    return made;
  }

  /** The marks of points: SVG elements up to SVG_POINTS, else none, and the canvas is painted. */
  marks(X, y) {
    if (X.length <= SVG_POINTS) {
      if (this.canvas.width) this.canvas.width = this.canvas.height = 0;
      return X.map((p, i) => s("path", { class: `point class-${y[i]}`, d: this.mark(p, y[i]) }));
    }
    this.#paint(this.canvas, X, y, 0.7 * this.radius, 1);
    return [];
  }

  /** The marks of all points but one as an image, which a browser paints faster than hundreds of marks. */
  async others(X, y, row) {
    const canvas = document.createElement("canvas"), { width, height } = this;
    this.#paint(canvas, X.toSpliced(row, 1), y.toSpliced(row, 1), this.radius, 1.5);
    const href = URL.createObjectURL(await new Promise(done => canvas.toBlob(done)));
    await Object.assign(new Image(), { src: href }).decode();
    return s("image", { href, width, height });
  }

  #paint(canvas, X, y, r, line) {
    const context = canvas.getContext("2d"), scale = devicePixelRatio, style = getComputedStyle(this.svg);
    canvas.width = this.width * scale;
    canvas.height = this.height * scale;
    const shapes = COLOURS.map((_, k) => new Path2D(outline(k, r))), fills = COLOURS.map((_, k) => style.getPropertyValue(`--class-${k}`));
    context.lineWidth = line;
    context.lineJoin = "round";
    context.strokeStyle = style.getPropertyValue("--paper");
    X.forEach(([a, b], i) => {
      context.setTransform(scale, 0, 0, scale, scale * this.x(a), scale * this.y(b));
      context.fillStyle = fills[y[i]];
      context.fill(shapes[y[i]]);
      context.stroke(shapes[y[i]]);
    });
  }

  /** The outline of a point's mark. */
  mark([x, y], k) { return outline(k, this.radius, this.x(x), this.y(y)); }

  /** Circles around points, as one path. */
  circles(points, r) { return points.map(([x, y]) => outline(0, r, this.x(x), this.y(y))).join(""); }

  place([x, y]) { return `translate(${this.x(x).toFixed(2)},${this.y(y).toFixed(2)})`; }

  arrow(x1, y1, x2, y2, kind) {
    const a = Math.atan2(y2 - y1, x2 - x1), n = Math.min(11, 0.6 * Math.hypot(x2 - x1, y2 - y1));
    const tip = turn => `${x2 - n * Math.cos(a + turn)},${y2 - n * Math.sin(a + turn)}`;
    return s("path", { class: kind, d: `M${x1},${y1}L${x2},${y2}M${tip(-0.42)}L${x2},${y2}L${tip(0.42)}` });
  }

  leave() { this.watch.disconnect(); }
}

/** The ticks between two ends, each with the step from one to the next. There are none where numbers differ only after twelve digits: they would be as long. */
function ticks(low, high, rough) {
  const power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find(one => one * power >= rough * 0.999) * power, first = Math.ceil(low / step), made = [];
  if (Math.max(-low, high) < 1e12 * (high - low)) for (let k = first; k * step < high; k++) made.push([k * step, step]);
  return made;
}
