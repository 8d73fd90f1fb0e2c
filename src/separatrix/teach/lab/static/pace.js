// When to ask for an answer that is to be drawn. Only one answer is drawn in each frame, so a request is sent as late as
// its answer still arrives before the frame. It then describes the latest state, and the server computes nothing in vain.

const FRAME = 1000 / 60, DRAWING = 1.5; // milliseconds of a frame, and between an answer and its frame
const LATER = 0.2, SOONER = 1; // milliseconds by which the lead changes after an answer: one of six may come too late
const STEP = 0.5; // the same for the median
const LAST = 30; // frames without a request after which frames are no longer timed

export class Pace {
  #at = 0; // when the last frame began
  #quiet = LAST; // frames since the last request
  #lead = 10; // milliseconds from a request to its frame, at most a frame
  #median = 8; // milliseconds from a request to its answer

  /** Note how long an answer took. */
  took(milliseconds) {
    this.#lead = Math.min(FRAME, this.#lead + (milliseconds + DRAWING > this.#lead ? SOONER : -LATER));
    this.#median = Math.min(2 * FRAME, this.#median + (milliseconds > this.#median ? STEP : -STEP));
  }

  /** Call `send` in time for a frame; at once if most answers take longer than a frame. */
  when(send) {
    const timed = this.#quiet < LAST, wait = FRAME - (performance.now() + this.#lead - this.#at) % FRAME;
    if (!timed) requestAnimationFrame(this.#frame);
    this.#quiet = 0;
    if (timed && this.#median < FRAME) setTimeout(send, wait);
    else send();
  }

  #frame = now => {
    this.#at = now;
    if (this.#quiet++ < LAST) requestAnimationFrame(this.#frame);
  };
}
