"""Sums of (1, x, xxᵀ) by class: against exact arithmetic, whatever the offset, the cut into blocks or the form."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core.base.errors import NotFiniteError, WeightError
from separatrix.core.base.machine import threads
from separatrix.core.gaussians import Whitening
from separatrix.core.moments import ClassMoments, gather, moments_of
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.protocol import Order, counted_passes

FORMS = {"dense": np.asarray, "CSR": csr_array}


def exact(X, codes, K, weight):
    """Means and scatters by class in rational numbers, rounded once at the end."""
    means, scatters = [], []
    for k in range(K):
        rows = [[Fraction(v) for v in row] for row in X[codes == k].tolist()]
        s = [Fraction(v) for v in weight[codes == k].tolist()]
        d = X.shape[1]
        m = [sum(w * row[j] for w, row in zip(s, rows, strict=True)) / sum(s) for j in range(d)]
        scatters.append(
            [
                [float(sum(w * (r[i] - m[i]) * (r[j] - m[j]) for w, r in zip(s, rows, strict=True))) for j in range(d)]
                for i in range(d)
            ]
        )
        means.append([float(v) for v in m])
    return np.array(means), np.array(scatters)


def problem(seed, n=60, d=3, K=3):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, K, n)
    codes[:K] = np.arange(K)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + codes[:, None]
    return X, codes, rng.integers(1, 4, n).astype(float)


CASES = {
    "plain": lambda X, codes: X,
    "offset 1e8": lambda X, codes: X + 1e8,
    "offset 1e12": lambda X, codes: X + np.array([1e12, -1e12, 0.0]),
    "classes 1e8 apart": lambda X, codes: X + 1e8 * (codes - 1)[:, None],
    "a far class": lambda X, codes: X + np.where(codes == 2, 1e9, 0.0)[:, None],
    "scales": lambda X, codes: X * [2.0**500, 1.0, 2.0**-500],
    "mostly zeros": lambda X, codes: np.where(np.abs(X) > 1.5, X, 0.0),
}


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CASES)
def test_an_offset_loses_nothing(case, form, pooled):
    for seed in range(5):
        X, codes, weight = problem(seed)
        X = CASES[case](X, codes)
        means, scatters = exact(X, codes, 3, weight)
        found = gather(memory_rows(FORMS[form](X), codes, weight), 3, pooled)
        spread = np.sqrt(np.einsum("kii->ki", scatters).max(axis=0) / weight.sum())
        # Relative to the class's spread, not to its offset. A mean is rounded to the offset's own last digit.
        limit = 1e-14 * spread + 4 * np.finfo(float).eps * np.abs(means).max(axis=0)
        assert np.all(np.abs(found.raw_mean - means) <= limit)
        expected = scatters.sum(axis=0)[None] if pooled else scatters
        size = weight.sum() * spread * spread[:, None]
        # Rounding the offset's last digit moves deviations by eps·offset, which enters squared or against zero sums.
        noise = (np.finfo(float).eps * np.abs(means).max(axis=0) / spread).max()
        assert np.max(np.abs(found.raw_scatter - expected) / size) <= 1e-13 + 4 * noise**2
        np.testing.assert_array_equal(found.weight, np.bincount(codes, weight))
        np.testing.assert_array_equal(found.n_rows, np.bincount(codes))


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_any_cut_into_blocks_and_any_merging_is_the_same_sum(form, pooled):
    X, codes, weight = problem(3, n=97)
    rows = memory_rows(FORMS[form](X + 1e6), codes, weight, Frame(np.full(3, 1e6), np.ones(3)))
    whole = moments_of(rows, 3, pooled)
    partial = ClassMoments(3, rows.frame, pooled)
    for size in (1, 7, 40):
        parts = [partial.add(partial.zero(), block) for block in rows.blocks(Order(size))]
        while len(parts) > 1:  # a tree of merges
            parts = [partial.merge(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)] + (
                parts[-1:] if len(parts) % 2 else []
            )
        np.testing.assert_allclose(parts[0].scatter, whole.scatter, rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(parts[0].mean, whole.mean, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(parts[0].weight, whole.weight, rtol=1e-15)


def test_the_pooled_scatter_is_the_sum_and_takes_the_memory_of_one():
    X, codes, weight = problem(4)
    own, pooled = (gather(memory_rows(X, codes, weight), 3, pooled=p) for p in (False, True))
    assert own.scatter.shape == (3, 3, 3)
    assert pooled.scatter.shape == (1, 3, 3)
    np.testing.assert_allclose(own.within, pooled.within, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(own.between, pooled.between, rtol=1e-13, atol=1e-13)


CONSTANT = {
    "zero": lambda X, codes: X * [1.0, 0.0, 1.0],
    "a third": lambda X, codes: X * [1.0, 0.0, 1.0] + [0.0, 1 / 3, 0.0],
    "1e10": lambda X, codes: X * [1.0, 0.0, 1.0] + [0.0, 1e10, 0.0],
    "nearly 5": lambda X, codes: X * [1.0, 1e-12, 1.0] + [0.0, 5.0, 0.0],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("case", "passes"),
    [
        ("plain", 1),
        ("offset 1e8", 1),
        ("offset 1e12", 3),
        ("scales", 1),
        ("zero", 1),
        ("a third", 1),
        ("1e10", 1),
        ("nearly 5", 3),
    ],
)
def test_one_pass_is_enough_where_columns_vary_or_are_constant(case, passes, form):
    """Else one over the columns and one more for the moments."""
    X, codes, weight = problem(8)
    X = (CASES | CONSTANT)[case](X, codes)
    with counted_passes() as counted:
        gather(memory_rows(FORMS[form](X), codes, weight), 3)
    assert counted[0] == passes


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", ["zero", "a third", "1e10"])
def test_a_constant_column_has_its_value_for_mean_and_no_scatter(case, form, centred):
    X, codes, weight = problem(8)
    X = CONSTANT[case](X, codes)
    weight[5], X[5, 1] = 0.0, 7.0  # does not count
    found = gather(memory_rows(FORMS[form](X), codes, weight), 3, centred=centred)
    np.testing.assert_array_equal(found.raw_mean[:, 1], X[0, 1])
    np.testing.assert_array_equal(found.scatter[:, 1, :], 0.0)
    np.testing.assert_array_equal(found.scatter[:, :, 1], 0.0)
    means, scatters = exact(X, codes, 3, weight)
    np.testing.assert_allclose(found.raw_scatter[:, [0, 2]], scatters[:, [0, 2]], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.raw_mean, means, rtol=1e-12)


def test_a_constant_table_with_a_hole_in_a_row_without_weight_is_refused():
    with pytest.raises(NotFiniteError):
        gather(memory_rows(np.array([[1.0], [1.0], [np.nan]]), np.array([0, 1, 1]), np.array([1.0, 1.0, 0.0])), 2)


def test_rows_unlike_the_first_look_lose_nothing():
    """Outliers that few rows do not show, and a class that begins late."""
    rng = np.random.default_rng(9)
    X = rng.standard_normal((5000, 2)) + 1e6
    codes = (np.arange(5000) >= 4990).astype(int)
    X[4990:] += 1e9
    X[7, 0] = 1e11
    found = gather(memory_rows(X, codes), 2)
    for k in (0, 1):
        centred = X[codes == k] - X[codes == k].mean(axis=0)
        np.testing.assert_allclose(found.raw_scatter[k], centred.T @ centred, rtol=1e-9)


def test_threads_change_no_bit():
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((60_000, 8)) + 5, rng.integers(0, 2, 60_000)
    found = []
    for count in (1, 2, 3):
        with threads(count):
            found.append(gather(memory_rows(X, codes), 2))
    for other in found[1:]:
        np.testing.assert_array_equal(other.scatter, found[0].scatter)
        np.testing.assert_array_equal(other.mean, found[0].mean)


def test_weights_count_rows_and_zero_leaves_them_out():
    X, codes, weight = problem(5)
    weight[::4] = 0.0
    often = np.repeat(np.arange(len(codes)), weight.astype(int))
    a, b = gather(memory_rows(X, codes, weight), 3), gather(memory_rows(X[often], codes[often]), 3)
    np.testing.assert_allclose(a.raw_scatter, b.raw_scatter, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(a.raw_mean, b.raw_mean, rtol=1e-13)


def test_total_scatter_is_within_plus_between():
    X, codes, weight = problem(6)
    found = gather(memory_rows(X, codes, weight), 3)
    centred = X - np.average(X, axis=0, weights=weight)
    scale = found.frame.scale
    total = (found.within + found.between) * scale * scale[:, None]
    np.testing.assert_allclose(total, centred.T @ (centred * weight[:, None]), rtol=1e-12, atol=1e-11)


def test_a_column_constant_within_classes_has_no_scatter_not_even_rounding():
    codes = np.arange(30) % 2
    X = np.column_stack([np.where(codes, 0.3, 0.1), np.arange(30.0)])
    found = gather(memory_rows(X, codes), 2)
    assert not found.scatter[:, 0, :].any()
    assert np.all(found.scatter[:, 1, 1] > 0)


def test_what_cannot_be_summed_is_named():
    X, codes, weight = problem(7)
    X[4, 1] = np.nan
    with pytest.raises(NotFiniteError, match="row 4, column 'b'"):
        gather(memory_rows(X, codes, weight), 3, names=["a", "b", "c"])
    with pytest.raises(WeightError, match="zero"):
        gather(memory_rows(np.ones((2, 1)), np.array([0, 1]), np.zeros(2)), 2)


# -------------------------------------------------------------------------------------------- whitening


def _singular(seed, d=5, rank=3):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((d, rank)) * np.exp(rng.normal(0, 3, (d, 1)))
    return B @ B.T


@pytest.mark.parametrize("rank", [5, 3, 1])
def test_whitening_takes_a_matrix_apart(rank):
    for seed in range(10):
        S = _singular(seed, rank=rank)
        white = Whitening.of(S)
        assert white.rank == rank
        np.testing.assert_allclose(white.A.T @ S @ white.A, np.eye(rank), atol=1e-6)
        scale = np.sqrt(np.diag(S))
        np.testing.assert_allclose(
            (white.colour @ white.colour.T) / scale / scale[:, None], S / scale / scale[:, None], atol=1e-9
        )
        if rank == 5:
            np.testing.assert_allclose(white.log_det, np.linalg.slogdet(S)[1], rtol=1e-8)


def test_whitening_solves_with_minimum_norm_in_standardised_columns():
    S = _singular(3)
    b = S @ np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    D = np.sqrt(np.diag(S))
    expected = np.linalg.pinv(S / D / D[:, None], hermitian=True) @ (b / D) / D
    np.testing.assert_allclose(Whitening.of(S).solve(b), expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())
    assert not Whitening.of(S).misses(b[None, :], D)
    assert Whitening.of(S).misses((b + D * np.arange(5))[None, :], D)


def test_completing_takes_the_other_matrix_where_there_is_no_scatter():
    pooled = Whitening.of(np.diag([4.0, 9.0]))
    white, rank = pooled.completed(np.diag([1.0, 0.0]))
    assert rank == 1
    np.testing.assert_allclose(white.colour @ white.colour.T, np.diag([1.0, 9.0]), atol=1e-14)
    np.testing.assert_allclose(white.log_det, np.log(9.0))
    full, rank = pooled.completed(np.diag([1.0, 2.0]))
    assert rank == 2
    np.testing.assert_allclose(full.log_det, np.log(2.0))


def test_nothing_to_whiten():
    assert Whitening.of(np.zeros((2, 2))).rank == 0


@pytest.mark.parametrize("apart", [0.0, 1.0, 30.0, 1e8])
@pytest.mark.parametrize("weights", ["ones", "whole", "some zero"])
def test_one_product_for_all_classes_holds_what_products_by_class_hold(apart, weights):
    X, codes, weight = problem(3, n=80, d=12, K=3)
    X = X + apart * codes[:, None]
    weight = {"ones": np.ones(80), "whole": weight, "some zero": np.where(np.arange(80) % 7 == 6, 0.0, weight)}[weights]
    means, scatters = exact(X, codes, 3, weight)
    found = gather(memory_rows(X, codes, weight), 3, pooled=True)
    unit = np.sqrt(np.diag(scatters.sum(axis=0)))
    np.testing.assert_allclose(
        found.raw_scatter[0] / np.outer(unit, unit), scatters.sum(axis=0) / np.outer(unit, unit), atol=1e-13
    )
    np.testing.assert_allclose(found.raw_mean, means, rtol=1e-13, atol=1e-13 * np.abs(X).max())


def test_the_one_product_is_used_near_zero_and_not_where_it_would_cancel():
    X, codes, weight = problem(4, n=80, d=12, K=3)
    for apart, used in ((0.0, True), (1e3, False)):
        rows = memory_rows(X + apart * codes[:, None], codes, weight)
        frame = Frame(np.asarray(rows.X).mean(axis=0), np.full(12, 2.0 ** np.ceil(np.log2(np.asarray(rows.X).std()))))
        block = rows.seen_through(frame).resident()
        assert (ClassMoments(3, frame, pooled=True)._by_sums(block) is not None) == used
