// Where answers come from. A page asks a source and does not know whether a server or a recording answers.

import { Pace } from "./pace.js";
import { packed } from "./pointset.js";

const LONG = 400; // milliseconds without an answer after which the page says that it is being computed
const PATIENCE = 2000; // milliseconds after which a computation gives way to a newer request of its name
const FIRST_WAIT = 250, LONGEST_WAIT = 4000; // milliseconds before the next attempt to connect

/** Answers from the server, over one websocket. Of waiting requests of one name, only the latest is sent. */
export class LiveSource {
  #socket = null;
  #number = 0;
  #flying = new Map(); // number -> {id, name, payload, resolve, reject, begun, late, shown, left}
  #busy = new Map(); // name -> number of the request in flight
  #next = new Map(); // name -> {payload, done, first} to send when the answer is there; `first` is the `done` that has waited longest
  #wait = FIRST_WAIT;
  #pace = new Pace();

  /**
   * `told` receives {state: "live" | "lost" | "refused"}, and {name, progress} of what takes long; null is the end.
   * `connect` opens a connection other than that to the server of this page.
   */
  constructor(told, connect = null) {
    Object.assign(this, { told, connect });
    this.#open();
  }

  /** Connect. Requests without an answer are sent again, since a request changes nothing on the server. */
  #open() {
    const socket = this.connect ? this.connect() : new WebSocket(`ws://${location.host}/socket`);
    socket.onopen = () => {
      this.#socket = socket;
      this.#wait = FIRST_WAIT;
      this.told({ state: "live" });
      for (const id of this.#flying.keys()) this.#send(id);
    };
    socket.onmessage = event => this.#receive(JSON.parse(event.data));
    socket.onclose = async () => {
      this.#socket = null;
      this.told({ name: null });
      // A server that was started again has another token, and refuses this page until its new address is opened.
      const answer = this.connect ? null : await fetch("opening.json", { method: "HEAD" }).catch(() => null);
      if (!answer?.ok) this.told({ state: answer ? "refused" : "lost" });
      setTimeout(() => this.#open(), this.#wait);
      this.#wait = Math.min(LONGEST_WAIT, 2 * this.#wait);
    };
  }

  #send(id) {
    const { name, payload } = this.#flying.get(id);
    this.#socket?.send(JSON.stringify({ id, request: name, payload: packed(payload) }));
  }

  /** The answer to one request. Without a connection, it waits for the next one. */
  ask(name, payload) {
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      const flight = { id, name, payload, resolve, reject, begun: performance.now() };
      flight.late = setTimeout(() => this.#show(flight), LONG);
      this.#flying.set(id, flight);
      this.#busy.set(name, id);
      this.#send(id);
    });
  }

  /** Ask in time for the next frame, or when the answer to the last such request is there. When a newer request replaces this one, `done(answer, error)` gets neither, or is not called; the first that waits is always called, since a page may wait for it to be ready. */
  latest(name, payload, done) {
    const before = this.#next.get(name);
    this.#next.set(name, { payload, done, first: before?.first ?? before?.done });
    if (!before && !this.#busy.has(name)) this.#pace.when(() => this.#ask(name));
  }

  /** Ask what waits, and then what has come meanwhile. */
  #ask(name) {
    if (!this.#next.has(name)) return; // The page was left.
    const { payload, done, first } = this.#next.get(name), begun = performance.now();
    this.#next.delete(name);
    const then = (answer, error) => {
      const newer = this.#next.has(name);
      this.#pace.took(performance.now() - begun);
      if (newer) this.#pace.when(() => this.#ask(name)); // The server works while the page draws.
      first?.(null, null);
      done(answer, newer ? null : error);
    };
    this.ask(name, payload).then(answer => then(answer, null), error => then(null, error));
  }

  stop(name, id = this.#busy.get(name)) { if (id) this.#socket?.send(JSON.stringify({ stop: id })); }

  /** Drop the waiting requests of the page that was left, and stop those that run for long. */
  leave() {
    for (const { done, first } of this.#next.values()) (first ?? done)(null, null);
    this.#next.clear();
    this.#busy.clear(); // The next page does not wait for these answers.
    this.told({ name: null });
    for (const flight of this.#flying.values()) {
      flight.left = true;
      if (flight.shown) this.#show(flight);
    }
  }

  /** Say that a request is being computed, or stop it if its answer would be of no use. */
  #show(flight, progress) {
    const { id, name, begun, left } = flight;
    if (left || (this.#next.has(name) && performance.now() - begun > PATIENCE)) return this.stop(name, id);
    flight.shown = true;
    this.told({ name, progress });
  }

  #receive(message) {
    const flight = this.#flying.get(message.id);
    if (!flight) return;
    if (message.progress) return this.#show(flight, message.progress);
    this.#flying.delete(message.id);
    if (this.#busy.get(flight.name) === flight.id) this.#busy.delete(flight.name);
    clearTimeout(flight.late);
    if (flight.shown) this.told({ name: null });
    if (message.answer) flight.resolve(message.answer);
    else flight.reject(new Error(message.error ?? "A newer request has replaced this one."));
  }
}
