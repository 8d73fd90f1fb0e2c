// The arithmetic of an update. A perceptron's row: the formula with its numbers. Other updates: the lines of the blackboard.
import { fixed, h } from "./dom.js";
import { COLOURS, badge } from "./stage.js";

const i = text => h("i", {}, text);
const mark = text => h("mark", {}, text);

/** A number with as few digits as it needs, at most three after the point. */
const plain = value => fixed(value, 3).replace(/\.?0+$/, "");
const factor = value => (value < 0 ? `(${plain(value)})` : plain(value));
const pair = w => `(${w.map(plain).join(", ")})`;

export function arithmetic(card, run, step) {
  const parts = [h("h2", {}, "The arithmetic")];
  if (step.plain) parts.push(...ofRow(run, step));
  else parts.push(h("div", { class: "board" }, step.board.map((line, k) => h("p", { class: k ? null : "sum" }, line.trim()))));
  parts.push(ending(run));
  card.replaceChildren(...parts);
}

function ofRow(run, step) {
  const { row, x, t, z, m, w, b, w_before: w0, b_before: b0, eta, gain } = step, k = run.y[row];
  const sign = t > 0 ? "+1" : "−1";
  const sum = h("p", { class: "sum" }, mark(`Row ${row}`), ` is ${COLOURS[k]} `, badge(k, 15), ` at ${pair(x)} and was on the wrong side, so the boundary turns towards having it right.`);
  const lines = h("div", { class: "equations" });
  const line = (left, right, note) => {
    lines.append(h("span", {}, left), h("span", {}, "="), h("span", {}, right));
    if (note) lines.append(h("span", { class: "note" }, note));
  };
  const score = x.flatMap((value, j) => [j ? " + " : "", `${factor(w0[j])} · `, mark(factor(value))]);
  line(i("z"), [...score, ` + ${factor(b0)} = ${plain(z)}`], ["score ", i("w · x + b"), " before the step"]);
  line(i("m"), [i("t z"), ` = ${sign} · ${factor(z)} = ${plain(m)}`], "margin: not above 0, so it is a mistake");
  line(i("w"), [`${pair(w0)} → ${pair(w)}`], [i("w + η t x"), " with ", i("η"), ` = ${plain(eta)} and `, i("t"), ` = ${sign}`]);
  line(i("b"), [`${plain(b0)} → ${plain(b)}`]);
  line(i("t z"), [`${plain(m)} + ${factor(gain)} = ${plain(step.m_after)}`], ["this row’s margin rose by ", i("η‖x̄‖²"), "; others may have fallen"]);
  return [sum, lines];
}

/** How the run ended, beside what the theorem allows. */
function ending({ theorem, mistakes, status }) {
  if (!theorem || mistakes === null) return h("p", { class: "theorem" }, `The run ended: ${status}.`);
  return h("p", { class: "theorem" }, "The run ended after ", h("b", {}, String(mistakes)), ` mistake${mistakes === 1 ? "" : "s"}. The theorem allows `, h("span", { class: "math" }, "R²‖w*‖²/γ²"), " = ", h("b", { "data-number": "allowed" }, String(theorem.most)),
    " on these rows, with ", i("R"), ` = ${fixed(theorem.R)} and `, h("span", { class: "math" }, "γ/‖w*‖"), ` = ${fixed(theorem.gamma, 3)}.`);
}
