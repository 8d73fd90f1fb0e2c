// Answers from Python, for a page in a frame inside a notebook. Messages go through the notebook, see notebook.js.
import { LiveSource } from "./source.js";

/** A port that can be used like a websocket. */
class PortSocket {
  constructor(port) {
    this.port = port;
    port.onmessage = event => this.onmessage(event);
    queueMicrotask(() => this.onopen());
  }

  send(text) { this.port.postMessage({ text }); }
}

/** What the frame of the pages needs to know of the notebook; its page asks the notebook for a port. */
export async function embed(content) {
  const port = await new Promise(resolve => {
    addEventListener("message", event => { if (event.source === parent && event.ports.length) resolve(event.ports[0]); });
    parent.postMessage("separatrix", "*");
  });
  return { ...content, source: told => new LiveSource(told, () => new PortSocket(port)), changed: link => port.postMessage({ link }) };
}
