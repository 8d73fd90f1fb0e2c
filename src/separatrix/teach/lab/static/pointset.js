// The points of a page, with undo. Places are multiples of 1/100, so that a link restores them exactly.
import { movable, snapped } from "./limits.js";

const MOST_STATES = 200;
const LARGEST = 327.67;
const rounded = v => Math.max(-LARGEST, Math.min(LARGEST, Math.round(v * 100) / 100));

/** A payload with its points X and y as one text, which takes less time to send and to read than lists of numbers. */
export function packed(payload) {
  const { X, y, ...rest } = payload, halves = v => [Math.round(100 * v) & 255, Math.round(100 * v) >> 8 & 255];
  if (!y) return payload;
  const bytes = X.flatMap((place, i) => [...place.flatMap(halves), y[i]]);
  return { ...rest, packed: btoa(bytes.map(one => String.fromCharCode(one)).join("")) };
}

export class PointSet {
  #past = [];

  /** `extra` is anything else that undo restores; replace it, do not change it in place. */
  constructor(X, y, preset, extra = null) {
    this.X = X.map(p => p.slice());
    this.y = y.slice();
    Object.assign(this, { preset, extra });
  }

  /** Remember the present state; call it before a change, once for a whole drag. */
  keep() {
    this.#past.push([this.X.map(p => p.slice()), this.y.slice(), this.preset, this.extra]);
    if (this.#past.length > MOST_STATES) this.#past.shift();
  }

  /** The points, as requests take them. */
  get sent() { const { X, y, preset } = this; return { X, y, preset }; }

  get undoable() { return this.#past.length > 0; }

  undo() {
    const last = this.#past.pop();
    if (last) [this.X, this.y, this.preset, this.extra] = last;
    return Boolean(last);
  }

  replace(X, y, preset) {
    this.keep();
    [this.X, this.y, this.preset] = [X.map(p => p.slice()), y.slice(), preset];
  }

  move(i, [x, y]) { if (movable(i)) this.X[i] = snapped([rounded(x), rounded(y)]); }

  add([x, y], k) {
    this.keep();
    this.X.push([rounded(x), rounded(y)]);
    this.y.push(k);
    return this.X.length - 1;
  }

  erase(i) {
    this.keep();
    this.X.splice(i, 1);
    this.y.splice(i, 1);
  }
}
