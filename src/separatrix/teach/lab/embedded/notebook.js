// A page of the lab in a cell of a notebook: a frame of its own, whose messages go to Python and back.

function render({ model, el }) {
  const view = crypto.getRandomValues(new Uint32Array(4)).join("-"), frame = document.createElement("iframe"), { port1: port, port2: theirs } = new MessageChannel();
  Object.assign(frame, { title: "separatrix lab", srcdoc: model.get("page"), allow: "clipboard-write" });
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  Object.assign(frame.style, { width: "100%", height: `${model.get("height")}px`, border: 0 });

  /** The page is there and asks for its port. */
  const asked = event => { if (event.source === frame.contentWindow && event.data === "separatrix") frame.contentWindow.postMessage(null, "*", [theirs]); };
  /** Answers for this view of the widget; it may be shown in several cells. */
  const answered = message => { if (message.view === view) port.postMessage(message.text); };
  port.onmessage = ({ data: { text, link } }) => {
    if (text) return model.send({ view, text });
    model.set("link", link);
    model.save_changes();
  };
  addEventListener("message", asked);
  model.on("msg:custom", answered);
  el.append(frame);
  return () => {
    removeEventListener("message", asked);
    model.off("msg:custom", answered);
    model.send({ view, text: null });
    port.close();
  };
}

export default { render };
