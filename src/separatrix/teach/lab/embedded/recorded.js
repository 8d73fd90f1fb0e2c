// Answers from a recording inside the page, written by src/separatrix/teach/lab/recorder.py.
import { limit, nearest } from "./limits.js";

/** The same interface as LiveSource. A request is answered by the nearest one that was recorded. */
class RecordedSource {
  #answers;

  constructor(answers) {
    this.#answers = answers;
    this.ready = Promise.resolve();
  }

  async ask(name, payload) {
    const known = this.#answers[name];
    if (!known) throw new Error("The recording does not have this.");
    const frame = known.frames[known.axes.reduce((k, axis) => k * axis.values.length + place(axis, payload), 0)];
    if (frame.error) throw new Error(frame.error);
    return structuredClone(frame.answer);
  }

  latest(name, payload, done) { this.ask(name, payload).then(answer => done(answer, null), error => done(null, error)); }
  stop() {}
}

/** The number of the value on an axis that is nearest to the payload's. */
function place(axis, payload) {
  const value = axis.place.reduce((part, key) => part?.[key], payload);
  return typeof value === "number" ? nearest(axis.values, value) : Math.max(0, axis.values.indexOf(value));
}

/** Disable the controls that the recording has no answers for, also those that the page makes later. */
function lock(root, controls, still) {
  const always = "pre + .row button";
  const working = [always, ...controls].join(", ");
  const act = () => {
    for (const one of root.querySelectorAll("button, input, select")) if (!one.matches(working)) one.disabled = true;
    if (still.length) for (const one of root.querySelectorAll(still.join(", "))) one.inert = true;
  };
  new MutationObserver(act).observe(root, { childList: true, subtree: true });
}

/** What the frame of the pages needs to know of a recording. */
export function embed({ answers, controls, still, row, grid, sentence, ...rest }, root) {
  limit(row, grid);
  lock(root, controls, still);
  document.documentElement.dataset.connection = "recorded";
  return { ...rest, recorded: true, sentence: `A recording. ${sentence}`, source: () => new RecordedSource(answers) };
}
