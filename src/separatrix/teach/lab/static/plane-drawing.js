// What the plane shows of an answer: regions, boundaries with their names, rings, distance, normal, margins, bands.
import { fixed, s } from "./dom.js";
import { clamp } from "./parts.js";

export function drawPlane(plane) {
  const { answer, layers, stage } = plane;
  layers.ground.replaceChildren(...answer.regions.map(one => stage.region(one)));
  const frame = [...stage.box, stage.width].join();
  if (layers.axes.dataset.frame !== frame) layers.axes.replaceChildren(...stage.axes());
  layers.axes.dataset.frame = frame;
  layers.lines.replaceChildren(...extras(plane), ...boundaries(plane));
  layers.under.replaceChildren(...losses(plane), ...chosen(plane), ...rings(plane));
  layers.over.replaceChildren(...names(plane));
}

function boundaries({ answer, stage }) {
  return answer.models.flatMap((one, k) => (one.lines ?? []).map(line => s("path", { class: `boundary line-${k}`, d: stage.path(line) })));
}

/** Margins, lines of equal probability and the normal of the model whose regions are shown. */
function extras({ answer, stage, show, focus }) {
  const model = answer.models[focus], made = [];
  if (!model || model.error) return made;
  if (show.margin) made.push(...model.margins.map(line => s("path", { class: "margin", d: stage.path(line) })));
  if (show.probability) for (const { p, line } of model.probabilities) {
    made.push(s("path", { class: "margin", d: stage.path(line) }));
    const [x, y] = line.reduce((a, b) => (b[1] > a[1] ? b : a));
    made.push(stage.text(clamp(stage.x(x), 24, stage.width - 24), clamp(stage.y(y) + 14, 14, stage.height - 20), fixed(p, p * 10 % 1 ? 2 : 1), "tick", "middle"));
  }
  if (show.normal && model.normal) {
    const [b, w1, w2] = model.normal, q = b / (w1 * w1 + w2 * w2), foot = [-q * w1, -q * w2];
    const length = 62 / Math.hypot(w1, w2), [x, y] = [stage.x(foot[0]), stage.y(foot[1])];
    made.push(stage.arrow(x, y, x + length * w1, y - length * w2, "vector"), stage.text(x + 1.16 * length * w1, y - 1.16 * length * w2 + 5, "w", "label math", "middle"));
  }
  return made;
}

function rings({ answer, stage, show, focus, set }) {
  const wrong = answer.models[focus]?.wrong ?? [], r = stage.small ? 9.5 : 12;
  return show.mistakes ? [s("path", { class: "ring", d: stage.circles(wrong.map(i => set.X[i]).filter(Boolean), r) })] : [];
}

/** The area of a disc is the row's loss under the model whose regions are shown. */
function losses({ answer, stage, show, focus, set }) {
  const values = answer.models[focus]?.losses;
  if (!show.losses || !values) return [];
  return values.map((loss, i) => set.X[i] && s("circle", { class: "loss", r: Math.min(90, 16 * Math.sqrt(Math.max(0, loss))).toFixed(1), transform: stage.place(set.X[i]) })).filter(Boolean);
}

/** The distance of the selected point, and the dotted circle of the point to drag. */
function chosen({ answer, stage, show, focus, set, row, drag, svg }) {
  const made = [], at = set.X[row], card = answer.models[focus]?.card;
  if (at && show.distance && card?.foot) {
    made.push(s("path", { class: "distance", d: stage.path([at, card.foot]) }));
    const mid = [stage.x(at[0] + 0.35 * (card.foot[0] - at[0])), stage.y(at[1] + 0.35 * (card.foot[1] - at[1]))];
    if (!stage.small && Math.hypot(stage.x(at[0]) - stage.x(card.foot[0]), stage.y(at[1]) - stage.y(card.foot[1])) > 60) {
      const left = mid[0] > stage.width - 110;
      made.push(stage.text(mid[0] + (left ? -12 : 12), mid[1] + 4, `distance ${fixed(card.distance)}`, "label soft", left ? "end" : "start"));
    }
  }
  if (at) made.push(s("circle", { class: "selected", r: stage.small ? 14 : 17, transform: stage.place(at) }));
  if (set.X[drag] && svg.dataset.touched !== "yes") {
    const [x, y] = set.X[drag];
    const right = stage.x(x) > stage.width - 110;
    made.push(stage.text(stage.x(x) + (right ? -24 : 24), stage.y(y) + 5, "drag me", "label soft", right ? "end" : "start"));
  }
  return made;
}

/** The names of models stand on their lines, near the end where the lines are far from each other. */
function names({ answer, stage, models, lab }) {
  const taken = [];
  return answer.models.flatMap((one, k) => {
    const line = one.lines?.reduce((a, b) => (span(b) > span(a) ? b : a), one.lines[0]);
    if (!line?.length || !models[k]) return [];
    const words = lab.known.get(models[k].name).short, half = 3.6 * words.length + 6;
    for (const share of [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]) {
      const [x, y] = along(line, share, stage), tilt = slope(line, stage), steep = tilt > 1, above = steep ? 0 : 12 + 0.8 * half * tilt;
      if (y - above < 14 && share > 0.1) continue;
      const px = clamp(steep ? x - half - 6 : x, half + 4, stage.width - half - 40), py = clamp(y - above, 18, stage.height - 26);
      const free = taken.every(([a, b, h]) => Math.abs(a - px) > h + half || Math.abs(b - py) > 18);
      if (x > 0 && x < stage.width && y > 0 && y < stage.height && free) {
        taken.push([px, py, half]);
        return [stage.text(px, py + 4, words, "label", "middle")];
      }
    }
    return [];
  });
}

const span = line => Math.hypot(line.at(-1)[0] - line[0][0], line.at(-1)[1] - line[0][1]);
const slope = (line, stage) => Math.abs(stage.y(line.at(-1)[1]) - stage.y(line[0][1])) / (Math.abs(stage.x(line.at(-1)[0]) - stage.x(line[0][0])) + 1e-9);

/** The place at a share of a polyline, from its lower to its upper end, in pixels. */
function along(line, share, stage) {
  const up = line.at(-1)[1] >= line[0][1] ? line : line.slice().reverse(), at = share * (up.length - 1), k = Math.min(Math.floor(at), up.length - 2), f = at - k;
  return [stage.x(up[k][0] + f * (up[k + 1][0] - up[k][0])), stage.y(up[k][1] + f * (up[k + 1][1] - up[k][1]))];
}
