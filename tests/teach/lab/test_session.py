"""The order in which the requests of a page are computed, with a socket in memory."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("starlette")

from starlette.websockets import WebSocketDisconnect

from separatrix.core.base.watching import Part, watched
from separatrix.teach.lab.app import Session

SECONDS = 20


class Socket:
    """What a page sends, and what it is sent."""

    def __init__(self):
        self.incoming, self.outgoing = asyncio.Queue(), asyncio.Queue()

    async def accept(self):
        pass

    async def receive_text(self):
        text = await self.incoming.get()
        if text is None:
            raise WebSocketDisconnect
        return text

    async def send_text(self, text):
        self.outgoing.put_nowait(json.loads(text.encode()))

    def ask(self, number, name):
        self.incoming.put_nowait(json.dumps({"id": number, "request": name, "payload": {"n": number}}))

    async def answer(self):
        return await asyncio.wait_for(self.outgoing.get(), SECONDS)


def played(play, requests):
    """Run a session with these requests while ``play(socket)`` acts as its page."""

    async def both():
        socket = Socket()
        session = asyncio.create_task(Session(socket, requests).run())
        try:
            await play(socket)
        finally:
            socket.incoming.put_nowait(None)
            await asyncio.wait_for(session, SECONDS)

    with ThreadPoolExecutor(1) as thread:  # Playwright's loop may run in this one.
        thread.submit(asyncio.run, both()).result()


def echo(payload):
    return {"n": payload["n"]}


def test_a_long_computation_does_not_hold_up_other_requests_of_its_page():
    free = threading.Event()

    def slow(payload):
        assert free.wait(SECONDS)
        return echo(payload)

    async def play(socket):
        socket.ask(1, "slow")
        socket.ask(2, "quick")
        try:
            assert await socket.answer() == {"id": 2, "answer": {"n": 2}}
        finally:
            free.set()
        assert await socket.answer() == {"id": 1, "answer": {"n": 1}}

    played(play, {"slow": slow, "quick": echo})


def test_of_the_requests_of_one_name_that_wait_only_the_latest_is_computed():
    free, begun, computed = threading.Event(), threading.Event(), []

    def slow(payload):
        computed.append(payload["n"])
        begun.set()
        assert free.wait(SECONDS)
        return echo(payload)

    async def play(socket):
        socket.ask(1, "slow")
        assert await asyncio.to_thread(begun.wait, SECONDS)
        socket.ask(2, "slow")
        socket.ask(3, "slow")
        assert await socket.answer() == {"id": 2, "dropped": True}
        free.set()
        assert [(await socket.answer())["id"] for _ in range(2)] == [1, 3]

    played(play, {"slow": slow})
    assert computed == [1, 3]


def endless(payload):
    tell = watched()
    for step in range(10**9):
        tell(Part("steps:", step))


async def stopped(socket, number):
    """Ask to stop a computation, and wait for the message that it has ended."""
    socket.incoming.put_nowait(json.dumps({"stop": number}))
    while "progress" in (message := await socket.answer()):
        pass
    assert message["id"] == number
    assert "stopped" in message["error"]


def test_a_computation_is_stopped_while_another_goes_on():
    async def play(socket):
        socket.ask(1, "endless")
        socket.ask(2, "endless too")
        assert "progress" in await socket.answer()
        await stopped(socket, 1)
        assert (await socket.answer())["id"] == 2
        await stopped(socket, 2)

    played(play, {"endless": endless, "endless too": endless})


def test_a_request_that_is_stopped_before_its_computation_begins_is_answered():
    async def play(socket):
        socket.ask(1, "quick")
        await stopped(socket, 1)
        socket.ask(2, "quick")
        assert await socket.answer() == {"id": 2, "answer": {"n": 2}}

    played(play, {"quick": echo})


def test_a_page_that_leaves_ends_its_computations():
    begun, ended = threading.Event(), threading.Event()

    def long(payload):
        begun.set()
        try:
            endless(payload)
        finally:
            ended.set()

    async def play(socket):
        socket.ask(1, "long")
        assert await asyncio.to_thread(begun.wait, SECONDS)

    played(play, {"long": long})
    assert ended.wait(SECONDS)


def test_an_unknown_request_is_answered_by_a_sentence():
    async def play(socket):
        socket.ask(1, "nothing")
        assert await socket.answer() == {"id": 1, "error": "the lab has no request 'nothing'"}

    played(play, {"quick": echo})


def test_an_answer_with_half_of_a_surrogate_pair_can_be_sent():
    async def play(socket):
        for number in (1, 2):
            socket.incoming.put_nowait(f'{{"id": {number}, "request": "echo", "payload": {{"n": "\\ud800"}}}}')
            assert await socket.answer() == {"id": number, "answer": {"n": "\ud800"}}

    played(play, {"echo": echo})


def test_a_request_is_answered_after_an_answer_that_could_not_be_sent():
    async def play(socket):
        usual = socket.send_text
        tried = asyncio.Event()

        async def broken(text):
            tried.set()
            raise ValueError("this text cannot be sent")

        socket.send_text = broken
        socket.ask(1, "quick")
        await asyncio.wait_for(tried.wait(), SECONDS)
        socket.send_text = usual
        socket.ask(2, "quick")
        assert await socket.answer() == {"id": 2, "answer": {"n": 2}}

    played(play, {"quick": echo})


def test_a_message_that_is_nested_too_deeply_is_answered_by_a_sentence():
    async def play(socket):
        socket.incoming.put_nowait("[" * 100_000 + "]" * 100_000)
        assert await socket.answer() == {"error": "the message is nested too deeply"}
        socket.ask(1, "quick")
        assert await socket.answer() == {"id": 1, "answer": {"n": 1}}

    played(play, {"quick": echo})
