"""How often a page asks while a point is dragged, and how points travel."""

import numpy as np
import pytest

from separatrix.teach.lab.points import decoded
from separatrix.teach.lab.requests import Call, answered

from .waiting import settled

# Moves the pointer far more often than frames are painted, and counts frames and requests.
MOVES = """async ([x, y, moves]) => {
    const send = WebSocket.prototype.send, counted = { frames: 0, requests: 0 };
    let done = false;
    const frame = () => { counted.frames++; if (!done) requestAnimationFrame(frame); };
    WebSocket.prototype.send = function (text) { counted.requests++; return send.call(this, text); };
    requestAnimationFrame(frame);
    for (let k = 1; k <= moves; k++) {
        const place = { clientX: x + k / 4, clientY: y - k / 4, pointerId: 1, bubbles: true };
        document.querySelector("#stage").dispatchEvent(new PointerEvent("pointerrawupdate", place));
        await new Promise(then => setTimeout(then, 2));
    }
    done = true;
    WebSocket.prototype.send = send;
    return counted;
}"""


def test_a_drag_asks_at_most_once_in_a_frame_and_ends_with_its_last_place(opened):
    page = opened("#plane?m=lda&p=outlier")
    settled(page)
    box = page.locator("g.marks path").nth(20).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    counted = page.evaluate(MOVES, [x - 100, y, 200])
    settled(page)
    assert 5 <= counted["requests"] <= counted["frames"] + 2
    stage = page.locator("#stage").bounding_box()
    shown = page.locator("g.marks path").nth(20).bounding_box()
    assert shown["x"] + shown["width"] / 2 - stage["x"] == pytest.approx(x - 50 - stage["x"], abs=2)
    said = page.inner_text(".who small").replace("−", "-")
    moved = page.evaluate("new URLSearchParams(location.hash.split('?')[1]).get('d')")  # 20:x₁,x₂
    assert [float(one) for one in said.strip("at ()").split(",")] == [float(v) for v in moved[3:].split(",")]
    page.mouse.up()


def test_points_travel_as_one_text(opened):
    page = opened("#plane")
    X, y = [[-327.67, 327.67], [0.01, -0.01], [2.55, -2.56], [0, 1.28]], [0, 5, 1, 2]
    sent = page.evaluate(
        "async payload => (await import('/pointset.js')).packed(payload)", {"X": X, "y": y, "row": 3, "preset": None}
    )
    assert set(sent) == {"packed", "row", "preset"}
    places, classes = decoded(sent["packed"])
    np.testing.assert_array_equal(places, X)
    assert classes.tolist() == y
    assert page.evaluate("async payload => (await import('/pointset.js')).packed(payload)", {"k": 3}) == {"k": 3}


@pytest.mark.parametrize("text", ["no base64!", "AAAA", 7])
def test_damaged_points_are_refused_by_a_sentence(text):
    answer = answered(Call(1, "fit", {"packed": text}), {"fit": dict})
    assert answer.startswith('{"id":1,"error":"p')
