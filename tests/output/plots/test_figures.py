"""The pictures of the lectures: each can be drawn in both themes, and what is drawn is what the estimators say."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.patches import Polygon

import separatrix as sx
from separatrix.teach import figures
from separatrix.teach.figures import boundaries, densities_and_kl, loss_surfaces
from separatrix.teach.figures.canvas import box_of, segment


@pytest.fixture(scope="module")
def drawn():
    """Every picture once, in the light theme."""
    return {name: picture.draw(theme="light") for name, picture in figures.FIGURES.items()}


def lines(ax, label):
    return [np.asarray(line.get_xydata()) for line in ax.lines if line.get_label() == label]


def arrows(ax, label):
    """The start and the end of each arrow with this label."""
    found = [note for note in ax.texts if note.get_label() == label]
    return [(np.array(note.xyann), np.array(note.xy)) for note in found]


def lies_on(plane, points):
    np.testing.assert_allclose(plane.distance(points), 0.0, atol=1e-9)


def test_there_are_seventeen_with_a_sentence_each():
    assert list(figures.FIGURES) == [f"V{k}" for k in range(1, 18)]
    for picture in figures.FIGURES.values():
        assert picture.sentence.endswith(".")
        assert getattr(figures, picture.draw.__name__) is picture.draw


@pytest.mark.parametrize("name", figures.FIGURES)
def test_each_can_be_saved_in_both_themes(name, drawn, tmp_path):
    dark = figures.FIGURES[name].draw(theme="dark")
    for figure, look in ((drawn[name], sx.plots.LIGHT), (dark, sx.plots.DARK)):
        figures.save(figure, tmp_path / f"{look.name}.png", dpi=25)
        assert mpl.colors.to_hex(figure.get_facecolor()) == look.paper
        size = mpl.image.imread(tmp_path / f"{look.name}.png").shape
        assert size[1] == pytest.approx(25 * figure.get_figwidth(), abs=1)


def test_an_svg_is_the_same_each_time_and_has_its_sentence(tmp_path):
    texts = []
    for name in ("a.svg", "b.svg"):
        figures.save(figures.margin_losses(theme="light"), tmp_path / name, title="Losses & margins.")
        texts.append((tmp_path / name).read_text())
    assert texts[0] == texts[1]
    assert "Losses &amp; margins." in texts[0]


def test_frames_are_the_updates_of_the_perceptron(drawn):
    X, t = boundaries.SEPARABLE, np.where(boundaries.SIDES == 1, 1, -1)
    run = boundaries.updates(X, boundaries.SIDES)
    assert len(run) == len(drawn["V1"].axes) == 6
    for update, ax in zip(run, drawn["V1"].axes, strict=True):
        added = t[update.row] * np.array([1.0, *X[update.row]])
        np.testing.assert_allclose(update.after, update.before + added, atol=1e-12)
        assert t[update.row] * (X[update.row] @ update.before[1:] + update.before[0]) <= 0
        lies_on(sx.Hyperplane(update.after[1:], update.after[0]), lines(ax, "after")[0])
        now = next(part for part in ax.collections if part.get_label() == "now")
        assert now.get_offsets()[0].tolist() == X[update.row].tolist()
    model = sx.Perceptron().fit(X, boundaries.SIDES)
    lies_on(model.hyperplane(), lines(drawn["V1"].axes[-1], "after")[0])


def test_the_update_is_the_exact_example(drawn):
    ax = drawn["V2"].axes[0]
    ((start, w),), ((tip, end),) = arrows(ax, "w"), arrows(ax, "added")
    assert (start.tolist(), w.tolist(), tip.tolist(), end.tolist()) == ([0, 0], [3, 2], [3, 2], [0, 6])
    np.testing.assert_allclose(lines(ax, "before")[0] @ w, 0.0, atol=1e-9)
    np.testing.assert_allclose(lines(ax, "after")[0] @ end, 0.0, atol=1e-9)


def test_losses_are_those_of_the_registry(drawn):
    for name in ("squared", "perceptron", "logistic", "hinge"):
        m, value = lines(drawn["V3"].axes[0], name)[0].T
        np.testing.assert_allclose(value, sx.losses.LOSSES[name].value(np.float64(1.0), m))


def test_only_the_squared_error_of_sigma_has_several_minima(drawn):
    counts = {}
    for name, ax in zip(loss_surfaces.ERRORS, drawn["V4"].axes[4:], strict=True):
        counts[name] = sum(part.get_label() == "minimum" for part in ax.collections)
    assert counts == {"zero-one": 0, "perceptron": 1, "logistic": 1, "squared-sigmoid": counts["squared-sigmoid"]}
    assert counts["squared-sigmoid"] >= 2


def test_steps_of_three_sizes_do_what_their_titles_say(drawn):
    E = sx.objective(loss_surfaces.LINE, loss_surfaces.LINE_SIDES)
    values = [np.array([E.value(w) for w in lines(ax, "path")[0]]) for ax in drawn["V5"].axes]
    least = sx.LogisticRegression(np.inf).fit(loss_surfaces.LINE, loss_surfaces.LINE_SIDES).certificate_.objective
    assert np.all(np.diff(values[0]) < 0)
    assert np.all(np.diff(values[1]) < 0)
    assert np.any(np.diff(values[2]) > 0)
    assert values[1][-1] - least < 0.2 * (values[0][-1] - least)


def test_gradients_are_perpendicular_to_the_contours(drawn):
    E = sx.objective(loss_surfaces.LINE, loss_surfaces.LINE_SIDES)
    down = arrows(drawn["V14"].axes[0], "down")
    assert len(down) == len(loss_surfaces.PLACES)
    for start, end in down:
        along = np.array([-(end - start)[1], (end - start)[0]]) * 1e-4
        assert abs(E.value(start + along) - E.value(start - along)) < 1e-9
        assert E.value(start + 1e-3 * (end - start)) < E.value(start)


def test_only_least_squares_follows_the_far_rows(drawn):
    before, after = ({name: lines(ax, name)[0] for name in boundaries.PATTERNS} for ax in drawn["V6"].axes[:2])
    moved = {name: abs(after[name][0, 0] - before[name][0, 0]) for name in before}
    assert after["least squares"][0, 0] == pytest.approx(161 / 29)
    assert before["least squares"][0, 0] == pytest.approx(4.5)
    assert moved["logistic"] < 0.05
    assert moved["perceptron"] == 0.0
    rings = [part for part in drawn["V6"].axes[3].collections if part.get_label() == "mistake"]
    assert sorted(map(tuple, rings[0].get_offsets().tolist())) == [(0, 1), (4, 3), (5, 4)]


def test_fishers_direction_separates_better(drawn):
    X, y = densities_and_kl.elongated()
    wrong = {}
    for direction in ("fisher", "means"):
        model = sx.FisherDiscriminant(direction).fit(X, y)
        lies_on(model.hyperplane(), lines(drawn["V7"].axes[0], direction)[0])
        wrong[direction] = int(np.sum(model.predict(X) != y))
    assert wrong["fisher"] < wrong["means"]


def test_hatched_parts_are_the_ambiguous_regions(drawn):
    X, y = boundaries.three_classes()
    for ax, kind in zip(drawn["V8"].axes, (sx.OneVsOneClassifier, sx.OneVsRestClassifier), strict=False):
        model = kind(sx.LeastSquaresClassifier()).fit(X, y)
        hatched = [patch for patch in ax.patches if isinstance(patch, Polygon) and patch.get_hatch()]
        unclear = sx.ambiguous_regions(model, box_of(X))
        assert sorted(len(patch.get_xy()) - 1 for patch in hatched) == sorted(len(r.vertices) for r in unclear)
        assert len(lines(ax, "model")) == 3
    assert not [patch for patch in drawn["V8"].axes[2].patches if patch.get_hatch()]


def test_curves_in_the_plane_are_lines_among_basis_functions(drawn):
    top, straight, ring, line = drawn["V9"].axes
    for curve in lines(top, "boundary"):
        np.testing.assert_allclose(np.abs(curve).min(axis=1), 0.0, atol=1e-6)
    np.testing.assert_allclose(lines(straight, "boundary")[0][:, 1], 0.0, atol=1e-9)
    plane_there = sx.Hyperplane.through(lines(line, "boundary")[0])
    for curve in lines(ring, "boundary"):
        lies_on(plane_there, curve**2)
    assert sx.separability(boundaries.XOR, boundaries.XOR_SIDES).explain()
    assert not sx.separability(boundaries.XOR, boundaries.XOR_SIDES)


def test_the_plane_has_its_distances(drawn):
    ax, line = drawn["V10"].axes[0], sx.Hyperplane(boundaries.W, boundaries.B)
    foot, x = lines(ax, "distance")[0]
    lies_on(line, [foot])
    assert np.linalg.norm(x - foot) == pytest.approx(abs(float(line.distance(x))))
    assert np.linalg.norm(lines(ax, "offset")[0][1]) == pytest.approx(line.offset)
    ((start, end),) = arrows(ax, "w")
    assert (end - start) @ [4.0, -3.0] == pytest.approx(0.0, abs=1e-9)


def test_the_generative_boundary_is_where_the_scores_are_equal(drawn):
    X, y = densities_and_kl.two_gaussians()
    for ax, kind in zip(
        drawn["V11"].axes, (sx.LinearDiscriminantAnalysis, sx.QuadraticDiscriminantAnalysis), strict=True
    ):
        for curve in lines(ax, "boundary"):
            np.testing.assert_allclose(kind().fit(X, y).decision_function(curve), 0.0, atol=1e-8)


def test_densities_are_those_of_information(drawn):
    for label, area in (("p", 1.0), ("p||q", 1.0), ("q||p", 1.0)):
        x, value = lines(drawn["V12"].axes[0], label)[0].T
        assert np.trapezoid(value, x) == pytest.approx(area, abs=0.01)
    peaks = [lines(drawn["V12"].axes[0], label)[0][:, 1].argmax() for label in ("p||q", "q||p")]
    assert peaks[0] != peaks[1]
    for curve, normal in zip(lines(drawn["V16"].axes[0], "density"), densities_and_kl.NORMALS, strict=True):
        np.testing.assert_allclose(curve[:, 1], normal.pdf(curve[:, 0]))


def test_the_slope_is_the_derivative_of_sigma(drawn):
    s, p = lines(drawn["V13"].axes[0], "sigmoid")[0].T
    np.testing.assert_allclose(lines(drawn["V13"].axes[0], "slope")[0][:, 1], np.gradient(p, s), atol=1e-3)


def test_regression_planes_meet_at_the_boundary(drawn):
    X, y = boundaries.three_classes()
    model = sx.LeastSquaresClassifier().fit(X, y)
    found = [line for line in drawn["V15"].axes[3].lines if line.get_label() == "boundary"]
    for line in found[::2]:
        x1, x2, h = line.get_data_3d()
        outputs = np.sort(model.outputs(np.column_stack([x1, x2])), axis=1)
        np.testing.assert_allclose(outputs[:, -1], h, atol=1e-9)
        np.testing.assert_allclose(outputs[:, -2], h, atol=1e-9)


def test_every_line_of_many_separates(drawn):
    X, t = boundaries.APART, np.where(boundaries.APART_SIDES == 1, 1, -1)
    found = lines(drawn["V17"].axes[0], "perceptron")
    for ends in found:
        plane_there = sx.Hyperplane.through(ends, positive=X[0])
        assert plane_there.clearance(X, t) > 0
    assert len({tuple(ends.round(6).ravel()) for ends in found}) == len(found)


def test_own_rows_can_be_drawn_and_bad_ones_are_refused():
    X, y = [[0.0, 0.0], [1.0, 3.0], [4.0, 1.0], [5.0, 4.0]], ["a", "a", "b", "b"]
    assert figures.perceptron_run(X, y, theme="light").axes
    with pytest.raises(sx.errors.ParameterError, match="X"):
        figures.perceptron_run(boundaries.XOR, boundaries.XOR_SIDES)
    with pytest.raises(sx.errors.ParameterError, match="theme"):
        figures.margin_losses(theme="grey")


def test_a_line_outside_the_box_has_no_segment():
    assert segment(sx.Hyperplane([1.0, 0.0], -5.0), (0.0, 1.0, 0.0, 1.0)).shape == (0, 2)
    assert segment(sx.Hyperplane([1.0, 1.0], -5.0), (0.0, 1.0, 0.0, 1.0)).shape == (0, 2)
