"""Objects come back from bytes as they were, and bytes of a hostile file run no code."""

import json

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from separatrix.base.messages import Message, Setting
from separatrix.base.object_bytes import DamagedObjectError, NotPlainError, digest, from_bytes, to_bytes
from separatrix.rows.frame import Frame
from separatrix.solvers.state import Halt
from separatrix.streams.batches import Stamp

OBJECTS = [
    None,
    True,
    -(2**70),
    0.1,
    float("inf"),
    "naïve\n",
    (1, [2.5, None], {"a": (3,), 4: "b"}),
    Halt.STALLED,
    Stamp("local", "a", 1, 2),
    np.float32(1.5),
    np.bool_(True),
]


@pytest.mark.parametrize("value", OBJECTS, ids=repr)
def test_plain_objects(value):
    found = from_bytes(to_bytes(value))
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "u8", "bool", "U3", "O"])
@pytest.mark.parametrize("order", "CF")
def test_arrays_keep_their_bits_and_their_order(kind, order):
    values = np.asarray(np.arange(6).reshape(2, 3).astype(str if kind in "U3O" else "i8"), dtype=kind, order=order)
    found = from_bytes(to_bytes(values))
    assert found.dtype == values.dtype
    assert found.tolist() == values.tolist()
    if kind not in ("U3", "O"):
        assert found.flags.f_contiguous == values.flags.f_contiguous
        found[0, 0] = 1  # It can be written to, as the sum of a pass can.


def test_nan_and_negative_zero_keep_their_bits():
    values = np.array([np.nan, -0.0, 5e-324])
    assert from_bytes(to_bytes(values)).tobytes() == values.tobytes()
    assert str(from_bytes(to_bytes(-0.0))) == "-0.0"


def test_objects_of_the_package():
    frame = from_bytes(to_bytes(Frame(np.zeros(2), np.ones(2))))
    assert frame.scale.tolist() == [1.0, 1.0]
    rows = from_bytes(to_bytes(csr_array(np.eye(3))))
    assert rows.toarray().tolist() == np.eye(3).tolist()
    message = from_bytes(to_bytes(Message("give ", Setting("C", 1.0))))
    assert message == "give C=1.0"
    assert message.remedies == (Setting("C", 1.0),)
    assert from_bytes(to_bytes(pa.array(["a", None]))).to_pylist() == ["a", None]


def test_other_objects_are_not_written():
    for value in (print, object(), {1, 2}, lambda: None):
        with pytest.raises(NotPlainError):
            to_bytes(value)
        assert digest(value) is None


@pytest.mark.parametrize(
    "tree",
    [
        {"object": ["os:system", {"command": "true"}]},
        {"object": ["separatrix.__main__:main", {}]},
        {"object": ["separatrix.base.object_bytes:from_bytes", {"data": 1}]},
        {"object": ["separatrix.base.errors:InputError", {}]},
        {"member": ["separatrix.rows.frame:Frame", "x"]},
        {"array": [0, "|O", [1], "C"]},
        {"array": [7, "<f8", [1], "C"]},
        {"array": [0, "<f8", [1000000], "C"]},
        {"unknown": 1},
        {},
    ],
)
def test_hostile_bytes_are_refused(tree):
    data = json.dumps({"tree": tree, "sizes": [8]}).encode() + b"\n" + bytes(8)
    with pytest.raises(DamagedObjectError):
        from_bytes(data)
