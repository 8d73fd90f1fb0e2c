"""A child forked while other threads of its parent fit can itself fit: it inherits no lock and no pool of theirs."""

import ast
import os
from pathlib import Path

import pytest

import separatrix
from tests.separate import printed

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

SETUP = """
import os, sys, threading, time
import numpy as np
from scipy.sparse import csr_array
import separatrix as sx
from separatrix.core.rows import memory_rows as memory

memory.BLOCK_BYTES = 1 << 13  # many blocks: small tables are summed by the pool, as large ones are
rng = np.random.default_rng(0)
X = rng.standard_normal((400, 6))
y = (X @ [1.0, -1.0, 2.0, 0.0, 0.5, 0.0] + rng.logistic(size=400) > 0).astype(int)
S = csr_array(np.where(np.abs(X) > 1, X, 0.0))

def fits():
    yield sx.LogisticRegression().fit(X, y).coef_
    yield sx.LogisticRegression(C=0.1).fit(S, y).coef_
    yield sx.LogisticRegression(l1_ratio=1.0).fit(X, y).coef_
    yield sx.LinearDiscriminantAnalysis().fit(X, y).coef_
    yield sx.Perceptron(max_iter=3).fit(X, y).coef_
    yield np.array([sx.separability(X[:60], y[:60]).verify(X[:60], y[:60])])  # linear programs

def answer():
    with sx.threads(2):
        return b"".join(np.ascontiguousarray(a).tobytes() for a in fits())

def keep_fitting():
    while True:
        answer()

def begin(count):
    for _ in range(count):
        threading.Thread(target=keep_fitting, daemon=True).start()

def forked(count, pause, work=answer):
    '''Fork so many children, one each pause; what each of them answers, None where it did not answer.'''
    ends = []
    for _ in range(count):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(write, work())
            finally:
                os._exit(0)
        os.close(write)
        ends.append((child, read))
        time.sleep(pause)
    return [(os.read(read, 1 << 16), os.waitpid(child, 0)[1]) for child, read in ends]
"""


def test_children_forked_while_threads_fit():
    code = """
expected = answer()
begin(3)
answers = forked(24, 0.02)
assert answers == [(expected, 0)] * 24, sum(a != (expected, 0) for a in answers)
os._exit(0)
"""
    printed(SETUP + code)


def test_children_forked_before_during_and_after_a_fit_of_another_thread():
    code = """
expected, mine = answer(), []
inside, go_on = threading.Event(), threading.Event()

def wait(stage, within):
    inside.set()
    assert go_on.wait(60)

def other():
    with sx.watch(wait):
        mine.append(answer())

before = forked(1, 0.0)
thread = threading.Thread(target=other)
thread.start()
assert inside.wait(60)
during = forked(1, 0.0)
go_on.set()
thread.join(60)
after = forked(1, 0.0)
assert mine == [expected]
assert before == during == after == [(expected, 0)]
"""
    printed(SETUP + code)


def test_children_forked_while_threads_compile():
    code = """
import numba

def compiled():
    return numba.njit(lambda x: x + 1.0)(1.0)

def keep_compiling():
    while True:
        compiled()

expected = answer()
threading.Thread(target=keep_compiling, daemon=True).start()
answers = forked(10, 0.02, lambda: str(compiled()).encode() + answer())
assert answers == [(b"2.0" + expected, 0)] * 10
os._exit(0)
"""
    printed(SETUP + code)


def test_pools_of_processes_that_fork():
    code = """
import multiprocessing
from joblib import Parallel, delayed

expected = answer()
begin(2)
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert [pool.apply_async(answer).get() for _ in range(6)] == [expected] * 6
    pool.close()  # its workers end by themselves; a pool that is terminated may wait for one that has just begun
    pool.join()
assert Parallel(2, backend="multiprocessing")(delayed(answer)() for _ in range(6)) == [expected] * 6
os._exit(0)
"""
    printed(SETUP + code)


def test_a_child_forked_inside_a_fit_and_the_fit_itself_go_on():
    code = """
expected, answers, first = answer(), [], [True]

def fork_once(stage, within):
    if first and first.pop():
        answers.extend(forked(1, 0.0))

with sx.watch(fork_once):
    assert answer() == expected
assert answers == [(expected, 0)]
"""
    printed(SETUP + code)


def test_blas_has_its_threads_back_in_a_child():
    code = """
from threadpoolctl import threadpool_info, threadpool_limits
from separatrix.core.base.machine import one_blas_thread

def blas():
    return bytes(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")

with one_blas_thread:  # loads every BLAS
    pass
threadpool_limits(3, user_api="blas")
entered, leave = threading.Event(), threading.Event()

def other():
    with one_blas_thread:
        entered.set()
        leave.wait()

thread = threading.Thread(target=other)
thread.start()
entered.wait()
assert set(blas()) == {1}
assert {bytes(set(own)) for own, _ in forked(1, 0.0, blas)} == {bytes([3])}
with one_blas_thread:  # of this thread, the child keeps it
    assert {bytes(set(own)) for own, _ in forked(1, 0.0, blas)} == {bytes([1])}
leave.set()
thread.join()
assert set(blas()) == {3}
"""
    printed(SETUP + code)


# ---------------------------------------------------------------------------------- the package's locks


PACKAGE = Path(separatrix.__file__).parent
# The modules that hold locks. A fork waits for that of core/base/machine.py. A forked child does not use the others.
# That of core/base/files.py is for Windows, which cannot fork; that of the terminal is made for each command. Those of
# core/rows/sampling.py and core/base/machine.py belong to one pass, and those of the lab to its server and widgets.
MODULES_WITH_LOCKS = {
    "core/rows/sampling.py",
    "core/base/files.py",
    "core/base/machine.py",
    "cli/terminal.py",
    "teach/lab/notebook.py",
    "teach/lab/uploaded_tables.py",
    "teach/lab/app.py",
}
LOCKS = {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Barrier"}


def _names(tree):
    """Every name that a module imports from elsewhere, or asks a module for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.value.id, node.attr


def test_no_other_locks():
    for path in sorted(PACKAGE.rglob("*.py")):
        names, place = set(_names(ast.parse(path.read_text()))), path.relative_to(PACKAGE).as_posix()
        if place != "core/base/lazy.py":
            assert ("functools", "cached_property") not in names, (
                f"{place}: use separatrix.core.base.lazy, which has no lock"
            )
        if place not in MODULES_WITH_LOCKS:
            assert not LOCKS & {name for module, name in names if module == "threading"}, f"{place} has a lock"
