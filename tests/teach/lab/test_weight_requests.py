"""The requests of the page Weight space, without a browser."""

import base64

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import InputError, SeparatrixError
from separatrix.core.losses import LOSSES
from separatrix.teach.error_surface import problem_of
from separatrix.teach.lab.page_weights import BANDS, METHODS, REQUESTS, Choices, levels_of, opened, suitable

TWO_CLASS_LOSSES = [name for name, loss in LOSSES.items() if not loss.traits.multiclass]


def payload(spec="overlapping", **changes):
    X, y = sx.lab.points(spec)
    choices = {"losses": ["zero-one", "perceptron"], "axes": [1, 2], "on": 1, "method": "gradient-descent", "eta": 0.5}
    boxes = {"box": [-3, 3, -2, 4], "plane": [-4, 4, -3, 3]}
    return {
        "X": X.tolist(),
        "y": y.tolist(),
        "preset": spec,
        **choices,
        "C": None,
        "w": [0, 0.5, 2],
        **boxes,
        **changes,
    }


def heights(one):
    """The heights of a surface in bands."""
    coded = np.frombuffer(base64.b64decode(one["heights"]), dtype="<u2")
    return coded.reshape(one["points"], one["points"]) / one["unit"]


@pytest.mark.parametrize("loss", TWO_CLASS_LOSSES)
def test_bands_follow_the_surface_of_every_registered_loss(loss):
    assert REQUESTS["start"]({"points": "overlapping"})["losses"] == TWO_CLASS_LOSSES
    found = REQUESTS["surfaces"](payload(losses=[loss, "logistic"], axes=[0, 2], C=5.0))["surfaces"][0]
    X, y = sx.lab.points("overlapping")
    n = found["points"]
    value = sx.error_surface(X, y, loss, (-3, 3, -2, 4), (0, 2), [0, 0.5, 2], n, C=5.0).value
    assert (found["low"], found["high"]) == (value.min(), value.max())
    order = np.argsort(value, axis=None)
    assert np.all(np.diff(heights(found).ravel()[order]) >= 0)
    assert heights(found).max() > found["bands"] - 1
    plain = REQUESTS["surfaces"](payload(losses=[loss, "logistic"]))["surfaces"][0]
    assert bool(plain["smooth"]) == LOSSES[loss].traits.continuous


def test_each_plateau_of_the_0_1_error_has_its_own_band_between_the_lines_of_the_rows():
    asked = payload("separable")
    found = REQUESTS["surfaces"](asked)["surfaces"][0]
    X, y = sx.lab.points("separable")
    value = sx.error_surface(X, y, "zero-one", (-3, 3, -2, 4), at=[0, 0.5, 2], points=found["points"]).value
    levels, highest = levels_of(value)
    assert highest == len(levels) - 1 == found["bands"]
    np.testing.assert_array_equal(levels[heights(found).astype(int)], value)
    scores = np.array(found["edges"]) @ X.T
    assert len(scores) > 10
    assert np.all(np.abs(scores).max(axis=1).min(axis=1) < 1e-3)  # some row has score zero at both ends of each line


def test_levels_are_denser_near_the_minimum():
    levels, highest = levels_of(np.linspace(1, 3, 1000).reshape(20, 50))
    assert highest == BANDS
    assert np.all(np.diff(levels, 2) > 0)
    assert levels[0] == 1


def test_the_view_holds_w_and_the_minimum():
    X, y = sx.lab.points("overlapping")
    best = sx.walk(X, y, "newton").W[-1]
    found = REQUESTS["at"](payload(losses=["zero-one", "logistic"], box=None))["box"]
    for weight in (*best[1:], 0.5, 2):
        assert found[0] < weight < found[1]
    assert np.abs(best[1:]).max() > 2.5  # so that the box would be smaller without the minimum


def test_the_box_follows_w_and_zooms_about_it():
    assert REQUESTS["at"](payload(w=[0, 4, 2]))["box"] == (-2, 4, -2, 4)
    assert REQUESTS["at"](payload(w=[0, 3, 4], zoom=0.5))["box"] == (0, 3, 1, 4)


def test_dragging_the_line_moves_it_to_the_pointer_or_turns_its_normal_there():
    moved = REQUESTS["at"](payload(drag={"to": [1, 2], "about": None}))["w"]
    assert moved.tolist() == [-4.5, 0.5, 2]
    turned = REQUESTS["at"](payload(w=[0, 3, 4], drag={"to": [1, 0], "about": [1, -2]}))["w"]
    assert turned.tolist() == [10, 0, 5]


def test_without_a_slope_the_page_is_told():
    X, y = sx.lab.points("overlapping")
    found = REQUESTS["at"](payload())
    flat, steep = found["errors"]
    assert (flat["downhill"], flat["stuck"], flat["norm"]) == (None, True, 0)
    assert steep["stuck"] is False
    np.testing.assert_allclose(steep["downhill"], -sx.objective(X, y, "perceptron").gradient([0, 0.5, 2])[1:])
    assert len(found["wrong"]) == round(len(X) * flat["value"])
    assert REQUESTS["at"](payload(w=[1, 0, 0]))["lines"] == []
    best = sx.walk(X, y, "newton").W[-1]
    bowl = REQUESTS["at"](payload(losses=["logistic", "squared"], w=best.tolist()))["errors"][0]
    assert (bowl["downhill"], bowl["stuck"]) == (None, False)
    assert "minimum" in bowl["says"]


@pytest.mark.parametrize("loss", TWO_CLASS_LOSSES)
def test_the_methods_offered_for_a_loss_can_walk_on_it(loss):
    X, y = sx.lab.points("overlapping")
    offered = suitable(problem_of(X, y, loss, 1.0)[0])
    assert "gradient-descent" in offered
    for method in sorted(set(offered) & {"gradient-descent", "normalised-gradient", "auto", "newton", "smoothing"}):
        found = REQUESTS["run"](payload(losses=["zero-one", loss], method=method, C=1.0))
        assert found["W"].shape[1] == 3
    for method in set(METHODS) - set(offered):
        with pytest.raises(SeparatrixError):
            REQUESTS["run"](payload(losses=["zero-one", loss], method=method, C=1.0))


def test_a_run_that_leaves_the_picture_widens_it():
    found = REQUESTS["run"](payload(losses=["logistic", "hinge"], box=[-1, 1, -1, 1], w=[0, 0, 0]))
    reach = np.abs(found["W"][:, 1:]).max()
    assert reach > 1
    assert found["box"][1] > reach


def test_a_link_gives_back_the_choices_and_lists_what_it_does_not_understand():
    chosen = Choices(("logistic", "hinge"), (0, 2), 0, "newton", 0.1, 3.0)
    assert opened({key: str(value) for key, value in chosen.link().items()}).choices == chosen
    found = opened({"v": "1", "ax": "1,1", "eta": "fast", "w": "1,2", "size": "9"})
    assert found.choices == Choices()
    assert set(found.unknown) == {"size", "ax=1,1", "eta=fast", "w=1,2"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("losses", ["zero-one"]),
        ("axes", [1, 1]),
        ("w", [1, 2]),
        ("eta", -1),
        ("C", 0),
        ("method", "hope"),
        ("box", [1]),
    ],
)
def test_a_wrong_payload_is_refused_by_its_name(name, value):
    with pytest.raises(InputError, match=name):
        REQUESTS["surfaces"](payload(**{name: value}))


def test_the_link_of_a_run_names_its_start_its_surface_and_its_step():
    found = REQUESTS["at"](payload(start=[1, 2, 3], ran=0, k=4, on=1))["link"]
    assert (found["w"], found["on"], found["k"]) == ("1,2,3", 0, 4)
    assert "k" not in REQUESTS["at"](payload())["link"]


def test_a_path_that_diverges_is_cut_and_the_box_does_not_follow_it():
    asked = payload("separable", losses=["zero-one", "squared"], method="gradient-descent", eta=0.5)
    found = REQUESTS["run"](asked)
    assert "iverged" in found["status"]
    assert np.abs(found["W"]).max() <= 1e6
    far = REQUESTS["at"](payload(w=[0, 900, 0], start=[0, 0, 0], ran=1, k=1))
    assert far["box"] == (-3, 3, -2, 4)
