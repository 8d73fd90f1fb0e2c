// Where answers come from. A page asks a source and does not know whether a server or a recording answers.

const LONG = 400; // milliseconds without an answer after which the page says that it is being computed

/** Answers from the server, over one websocket. Of waiting requests of one name, only the latest is sent. */
export class LiveSource {
  #socket = null;
  #number = 0;
  #flying = new Map(); // number -> {name, resolve, reject}
  #busy = new Map(); // name -> number of the request in flight
  #next = new Map(); // name -> {payload, done} to send when the answer is there
  #wait = 250;

  /** `told` receives {state: "live" | "lost"}, {progress, name, stop} and {waiting: true | false}. */
  constructor(told, connect = () => new WebSocket(`ws://${location.host}/socket`)) {
    Object.assign(this, { told, connect });
    this.ready = this.#open();
  }

  #open() {
    return new Promise(resolve => {
      const socket = this.connect();
      socket.onopen = () => {
        this.#socket = socket;
        this.#wait = 250;
        this.told({ state: "live" });
        resolve();
      };
      socket.onmessage = event => this.#receive(JSON.parse(event.data));
      socket.onclose = () => {
        this.#socket = null;
        for (const { reject, late } of this.#flying.values()) {
          clearTimeout(late);
          reject(new Error("The connection to the server was lost."));
        }
        this.#flying.clear();
        this.told({ waiting: false });
        this.#busy.clear();
        this.told({ state: "lost" });
        setTimeout(() => this.#open().then(resolve), this.#wait);
        this.#wait = Math.min(4000, 2 * this.#wait);
      };
    });
  }

  /** The answer to one request. */
  async ask(name, payload) {
    if (!this.#socket) await this.ready;
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      if (!this.#socket) return reject(new Error("There is no connection to the server."));
      const late = setTimeout(() => this.told({ waiting: true }), LONG);
      this.#flying.set(id, { name, resolve, reject, late });
      this.#busy.set(name, id);
      this.#socket.send(JSON.stringify({ id, request: name, payload }));
    });
  }

  /** Ask, or wait until the answer to the last such request is there; `done(answer, error)` sees the latest only. */
  latest(name, payload, done) {
    if (this.#busy.has(name)) return void this.#next.set(name, { payload, done });
    const then = (answer, error) => {
      done(answer, error);
      const next = this.#next.get(name);
      this.#next.delete(name);
      if (next) this.latest(name, next.payload, next.done);
    };
    this.#busy.set(name, 0);
    this.ask(name, payload).then(answer => then(answer, null), error => then(null, error));
  }

  stop(name) {
    const id = this.#busy.get(name);
    if (id && this.#socket) this.#socket.send(JSON.stringify({ stop: id }));
  }

  #receive(message) {
    const flight = this.#flying.get(message.id);
    if (!flight) return;
    if (message.progress) return this.told({ name: flight.name, progress: message.progress });
    this.#flying.delete(message.id);
    this.#busy.delete(flight.name);
    clearTimeout(flight.late);
    if (!this.#flying.size) this.told({ waiting: false });
    this.told({ name: flight.name, progress: null });
    if (message.answer) flight.resolve(message.answer);
    else flight.reject(new Error(message.error ?? "A newer request has replaced this one."));
  }
}
