// When to ask for an answer that is drawn in the next frame. A request that is sent as late as possible describes the
// latest state, and the server computes no answer that is never drawn.

const AFTER_LAST = 30; // frames without a request after which frames are no longer timed
const NEW = 0.2; // weight of the newest duration in the running means
const DRAWING = 1.5; // milliseconds between the arrival of an answer and the frame, in which it is drawn

export class Pace {
  #frame = 0; // time of the last frame
  #period = 1000 / 60; // milliseconds between frames; faster screens are timed
  #idle = AFTER_LAST; // frames since the last request
  #mean = 8; // milliseconds between a request and its answer
  #spread = 2; // the mean difference from that mean

  /** Note how long an answer took. */
  took(milliseconds) {
    const change = milliseconds - this.#mean;
    this.#mean += NEW * change;
    this.#spread += NEW * (Math.abs(change) - this.#spread);
  }

  /** Call `send` so that its answer arrives just before a frame; at once if answers take longer than a frame. */
  when(send) {
    const now = performance.now(), lead = this.#mean + this.#spread + DRAWING, timed = this.#idle < AFTER_LAST;
    this.#watch();
    if (!timed || lead > this.#period) return send();
    const past = (now + lead - this.#frame) % this.#period;
    setTimeout(send, this.#period - past);
  }

  /** Time the frames as long as there are requests. */
  #watch() {
    const sleeping = this.#idle >= AFTER_LAST;
    this.#idle = 0;
    const tick = now => {
      const period = now - this.#frame;
      if (period > 3 && period < this.#period) this.#period = period;
      this.#frame = now;
      if (this.#idle++ < AFTER_LAST) requestAnimationFrame(tick);
    };
    if (sleeping) requestAnimationFrame(tick);
  }
}
