"""The widget for notebooks: its Python side, and its page in a browser with a model that stands for Jupyter's."""

import json
import time
from queue import Empty, Queue
from threading import Event

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.teach.lab.notebook import Worker
from separatrix.teach.lab.recorder import embedded_texts

SECONDS = 30.0
ENDLESS = {"solver": "gradient-descent", "tol": "1e-300", "max_iter": "1000000000"}


class Kernel:
    """A widget whose messages to its views are kept in a queue, as the kernel of a notebook would send them."""

    def __init__(self, monkeypatch, link):
        self.widget, self.sent = sx.lab.widget(link), Queue()
        monkeypatch.setattr(type(self.widget), "send", lambda _, content, buffers=None: self.sent.put(content))

    def receive(self, data):
        """A message from the browser, as ipywidgets gets it."""
        self.widget._handle_msg({"content": {"data": data}, "buffers": []})

    def ask(self, message, view="one"):
        self.receive({"method": "custom", "content": {"view": view, "text": json.dumps(message)}})

    def answer(self, number, kind="answer"):
        """The next message with this number that has an answer, an error or a progress."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            message = json.loads(self.sent.get(timeout=SECONDS)["text"])
            if message.get("id") == number and kind in message:
                return message[kind]
        raise AssertionError(f"there is no {kind} to request {number}")


def fit_of(X, y, **settings):
    model = {"name": "logistic", "settings": settings, "base": None}
    return {"X": X.tolist(), "y": y.tolist(), "preset": None, "models": [model], "box": [-5, 5, -3, 3], "focus": 0}


def test_a_request_of_a_view_is_answered_with_the_numbers_of_the_library(monkeypatch):
    kernel = Kernel(monkeypatch, "#plane")
    X, y = sx.lab.points("overlapping")
    kernel.ask({"id": 1, "request": "plane.fit", "payload": fit_of(X, y)})
    (found,) = kernel.answer(1)["models"]
    model = sx.LogisticRegression().fit(X, y)
    assert found["norm"] == pytest.approx(np.linalg.norm(model.coef_), rel=1e-9)
    assert found["wrong"] == np.flatnonzero(model.predict(X) != y).tolist()
    kernel.ask({"id": 2, "request": "nothing", "payload": {}}, view="two")
    assert "no request" in kernel.answer(2, "error")
    kernel.receive({"method": "custom", "content": {"view": "one", "text": "no JSON"}})
    assert "not JSON" in json.loads(kernel.sent.get(timeout=SECONDS)["text"])["error"]
    kernel.receive({"method": "custom", "content": "no view"})
    assert kernel.sent.empty()


@pytest.mark.parametrize("how", ["stop", "leave"])
def test_a_long_fit_is_stopped_and_does_not_block_the_kernel(monkeypatch, how):
    kernel = Kernel(monkeypatch, "#plane")
    X, y = sx.lab.points("overlapping")
    kernel.ask({"id": 1, "request": "plane.fit", "payload": fit_of(X, y, **ENDLESS)})
    assert kernel.answer(1, "progress")["text"]
    kernel.ask({"id": 2, "request": "plane.start", "payload": {"points": "outlier"}}, view="two")
    assert len(kernel.answer(2)["X"]) == 21
    if how == "stop":
        kernel.ask({"stop": 1})
    else:
        kernel.receive({"method": "custom", "content": {"view": "one", "text": None}})
    assert "stopped" in kernel.answer(1, "error")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_request_is_answered_after_an_answer_that_could_not_be_sent():
    sent, closed = Queue(), Event()

    def tell(text):
        if not closed.is_set():
            closed.set()
            raise ValueError("the connection is closed")
        if "answer" in text:
            sent.put(text)

    worker = Worker({"echo": lambda payload: payload}, tell)
    worker.receive('{"id": 1, "request": "echo", "payload": {}}')
    assert closed.wait(SECONDS)
    end = time.monotonic() + SECONDS
    while sent.empty() and time.monotonic() < end:  # The thread of the first request may still be ending.
        worker.receive('{"id": 2, "request": "echo", "payload": {}}')
        time.sleep(0.05)
    assert json.loads(sent.get(timeout=1))["id"] == 2


def test_of_waiting_requests_of_one_name_only_the_latest_is_answered(monkeypatch):
    kernel = Kernel(monkeypatch, "#plane")
    X, y = sx.lab.points("overlapping")
    kernel.ask({"id": 1, "request": "plane.fit", "payload": fit_of(X, y, **ENDLESS)})
    kernel.answer(1, "progress")
    for number, points in ((2, "outlier"), (3, "three")):
        kernel.ask({"id": number, "request": "plane.start", "payload": {"points": points}})
    assert kernel.answer(2, "dropped") is True
    kernel.ask({"id": 4, "request": "fisher.start", "payload": {"points": "three"}})
    kernel.ask({"stop": 4})
    assert "stopped" in kernel.answer(4, "error")
    kernel.ask({"stop": 1})
    assert kernel.answer(3)["preset"] == "three"


@pytest.mark.parametrize("arguments", [{"link": "#nowhere"}, {"link": "#plane?v=2"}, {"link": "#plane", "height": 1}])
def test_what_the_widget_cannot_show_is_refused(arguments):
    with pytest.raises(ParameterError, match="height" if "height" in arguments else "link"):
        sx.lab.widget(**arguments)


def test_the_extra_is_named_when_it_is_missing(monkeypatch):
    monkeypatch.setattr("separatrix.teach.lab.recorder.find_spec", lambda name: None)
    with pytest.raises(ParameterError, match=r"install separatrix\[notebook\]"):
        sx.lab.widget()


# A model as anywidget gives it to a module, whose messages go to the test.
MOUNTED = """async ([code, traits]) => {
  const listeners = new Set();
  window.model = {
    get: name => traits[name],
    set: (name, value) => { traits[name] = value; },
    save_changes: () => window.toPython({ method: "update", state: { link: traits.link } }),
    send: content => window.toPython({ method: "custom", content }),
    on: (name, act) => listeners.add(act),
    off: (name, act) => listeners.delete(act),
    receive: content => { for (const act of listeners) act(content); },
  };
  const { default: { render } } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  window.leave = render({ model: window.model, el: document.body });
}"""


@pytest.fixture
def mounted(tabs, monkeypatch):
    """A function that shows a widget in an empty page; it returns the page, the kernel and a way to wait."""
    problems = []
    with tabs.opened() as new_page:

        def mounts(link):
            kernel = Kernel(monkeypatch, link)
            page = new_page(viewport={"width": 1280, "height": 950})
            page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("request", lambda request: problems.append(request.url) if "data:" not in request.url else None)
            page.expose_function("toPython", kernel.receive)
            traits = {name: getattr(kernel.widget, name) for name in ("page", "link", "height")}
            page.evaluate(MOUNTED, [embedded_texts()["notebook.js"], traits])

            def until(function, *arguments):
                """Carry answers of Python to the page until a function of the frame, or of Python, is true."""
                end = time.monotonic() + SECONDS
                while not (function() if callable(function) else page.frames[-1].evaluate(function, *arguments)):
                    assert time.monotonic() < end, f"{function} is still false"
                    page.wait_for_timeout(10)
                    try:
                        page.evaluate("content => window.model.receive(content)", kernel.sent.get(timeout=0.05))
                    except Empty:
                        continue

            until("() => document.documentElement.dataset.ready === 'true'")
            return page, kernel, until

        yield mounts
    assert problems == []


def test_a_page_in_a_notebook_shows_the_numbers_of_the_library_and_tells_its_link(mounted):
    page, kernel, until = mounted("#plane?m=lda&p=outlier")
    frame = page.frames[-1]
    frame.focus("#stage")
    page.keyboard.press("Shift+ArrowLeft")
    X, y = sx.lab.points("outlier;20=7,-2.5")
    norm = np.linalg.norm(sx.LinearDiscriminantAnalysis().fit(X, y).coef_)
    shown = "document.querySelector('[data-number=norm]')?.innerText"
    until(f"norm => Math.abs(parseFloat({shown}) - norm) < 6e-4", norm)
    until(lambda: kernel.widget.link == "#plane?v=1&m=lda&p=outlier&d=20:7,-2.5")
    assert frame.evaluate("location.href") == "about:srcdoc"


def test_another_page_is_chosen_inside_the_notebook(mounted):
    page, kernel, until = mounted("#plane")
    page.frames[-1].click("nav.pages a[href='#step']")
    until("() => document.querySelector('#stage')?.dataset.step === '4'")
    page.frames[-1].focus("#stage")
    page.keyboard.press("ArrowRight")
    until("() => document.querySelector('#stage').dataset.step === '5'")
    until(lambda: kernel.widget.link.startswith("#step?v=1&m=perceptron") and kernel.widget.link.endswith("k=5"))
    assert page.evaluate("location.hash") == ""
    page.evaluate("window.leave()")
    until(lambda: not kernel.widget._workers)
