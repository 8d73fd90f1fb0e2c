"""Work inside work, and many threads that fit at once, never wait for themselves, and give the same bits."""

import pytest

from tests.separate import printed

# Parallel work asked for inside parallel work, three deep, from the thread that asks and from those of the pool.
DEEP = """
import sys
import separatrix as sx
from separatrix.core.base.machine import in_order, thread_count

def deep(levels):
    return 1 if levels == 0 else sum(in_order(deep, [levels - 1] * 5))

with sx.threads(int(sys.argv[1])):
    print(deep(4))
"""

# A task that sets its own number of threads, and one that waits for a thread which asks for parallel work itself.
STUBBORN = """
import sys, threading
import separatrix as sx
from separatrix.core.base.machine import in_order

count = int(sys.argv[1])

def inner(_):
    with sx.threads(count):
        return sum(in_order(abs, range(-8, 0)))

def elsewhere(_):
    answer = []
    thread = threading.Thread(target=lambda: answer.append(inner(None)))
    thread.start()
    thread.join()
    return answer[0]

with sx.threads(count):
    print(list(in_order(inner, range(6))), list(in_order(elsewhere, range(6))))
"""

# One thread computes a cached property and waits for the pool, whose tasks need that property of other objects.
CACHED = """
import sys, threading, time
import separatrix as sx
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.machine import in_order

class Sum:
    def __init__(self, parts):
        self.parts = parts

    @cached_property
    def total(self):
        time.sleep(0.05)  # so that several threads are in here at once
        return sum(in_order(lambda part: part.total if isinstance(part, Sum) else part, self.parts))

def tree(levels):
    return Sum([tree(levels - 1) if levels else 1 for _ in range(3)])

def grown():
    with sx.threads(int(sys.argv[1])):
        totals.append(tree(2).total)

totals = []
growing = [threading.Thread(target=grown) for _ in range(4)]
for thread in growing:
    thread.start()
for thread in growing:
    thread.join()
print(totals)
"""

# Rows are cut into many blocks, so that small tables are summed in parallel as large ones are.
SETUP = """
import sys, threading
import numpy as np
import separatrix as sx
from separatrix.core import leave_one_out
from separatrix.core.rows import memory_rows as memory

memory.BLOCK_BYTES = 1 << 11
leave_one_out.NUMBERS_PER_PIECE = leave_one_out.SMALL_PIECE = 1 << 8
count = int(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.standard_normal((160, 3))
z = X @ [1.0, -2.0, 0.5] + rng.logistic(size=160)
y = (z > 0).astype(int)
X[:2] *= 8  # rows that leverages cannot leave out: the fit is solved anew without them
y[:2] = X[:2] @ [1.0, -2.0, 0.5] < 0
three = np.digitize(z, [-1.0, 1.0])

def bits(*arrays):
    print(*(np.ascontiguousarray(a).tobytes().hex()[:64] for a in arrays), flush=True)
"""

FITS = (
    SETUP
    + """
from joblib import parallel_config
from sklearn.model_selection import cross_val_score

with sx.threads(count):
    for l1_ratio in (1.0, 0.0):
        model = sx.LogisticRegression(C="auto", l1_ratio=l1_ratio, tol=1e-5).fit(X, y)
        assert model.penalty_choice_.refitted.max() > 0  # else nothing is nested
        bits(model.coef_, np.float64(model.C_))
    bits(sx.OneVsRestClassifier(sx.LogisticRegression(C="auto")).fit(X, three).decision_function(X))
    path = sx.penalty_path(X, y, n_values=3)
    bits(*(model.coef_ for model in path.models))
    compared = sx.compare(X, three, cv=3, only=["logistic", "lda", "one-versus-rest, logistic"])
    print([(one.name, one.accuracy.mean) for one in compared.standings])
    with parallel_config("threading"):
        bits(cross_val_score(sx.LogisticRegression(C="auto"), X, y, cv=3, n_jobs=2))
"""
)

CROWD = (
    SETUP
    + """
answers = [None] * 4

def fit(k):
    with sx.threads(1 + k % 2):
        model = sx.LogisticRegression(C="auto", l1_ratio=1.0 * (k < 2), tol=1e-5).fit(X, y)
        answers[k] = model.coef_

crowd = [threading.Thread(target=fit, args=(k,)) for k in range(4)]
for thread in crowd:
    thread.start()
for thread in crowd:
    thread.join()
assert all(np.array_equal(answers[2 * (k // 2)], answers[k]) for k in range(4))
bits(answers[0], answers[2])
"""
)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize(
    ("program", "answer"),
    [(DEEP, "625"), (STUBBORN, f"{[36] * 6} {[36] * 6}"), (CACHED, f"{[27] * 4}")],
    ids=["three deep", "tasks that will not be nested", "cached properties"],
)
def test_nested_work_ends(program, answer, count):
    assert printed(program, count, seconds=60).strip() == answer


@pytest.mark.parametrize("program", [FITS, CROWD], ids=["nested fits", "threads of the user's"])
def test_nested_fits_end_with_the_same_bits(program):
    alone, *others = [printed(program, count) for count in (1, 2)]
    assert alone
    assert all(other == alone for other in others)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
def test_fits_without_one_row_each_on_a_table_of_many_blocks(count):
    code = """
import sys
import numpy as np
import separatrix as sx
rng = np.random.default_rng(0)
X, w = rng.standard_normal((14_000, 40)), rng.standard_normal(40)
y = (X @ w + rng.logistic(size=14_000) > 0).astype(int)
X[:4] *= 60
y[:4] = X[:4] @ w < 0
with sx.threads(int(sys.argv[1])):
    model = sx.LogisticRegression(C="auto", l1_ratio=1.0).fit(X, y)
assert model.penalty_choice_.refitted.max() > 0
"""
    printed(code, count)
