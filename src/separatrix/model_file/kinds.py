"""Every kind of scorer and verdict that a file can hold, and records that several classifiers share.

A new kind is one line in its registry. The forms of fields follow from their annotations. Only fields whose annotations
say too little are given here: axes of arrays, ranges, and objects stored by name. Claims are described by the
classifiers themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.losses.links import LINKS, BinaryLink
from separatrix.model_file.class_forms import Labels
from separatrix.model_file.forms import Choice, Maybe, Named, Several, Whole, numbers
from separatrix.model_file.nested_models import FittedModel
from separatrix.model_file.places import Form, Reading, Writing
from separatrix.model_file.records import Kinds, Record
from separatrix.model_file.statistics import Statistics
from separatrix.moments.gather import Moments
from separatrix.moments.gaussians import Gaussians, QuadraticScorer
from separatrix.proofs.naming import About
from separatrix.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable
from separatrix.rows import Frame
from separatrix.scorers.parts import PartsScorer
from separatrix.scorers.schemes import OneVersusOne, OneVersusRest, Scheme
from separatrix.scorers.scorer import Scorer

Sizes = Mapping[str, int]

SCHEMES: dict[str, Scheme] = {scheme.name: scheme for scheme in (OneVersusOne(), OneVersusRest())}
ROWS = numbers("", whole=True, least=0)


def _link(scorer: Any, sizes: Sizes) -> str:
    binary, softmax = isinstance(LINKS[scorer.link_name], BinaryLink), scorer.link_name == "softmax"
    fits = len(scorer.W) > 1 if softmax else len(scorer.W) == 1 or not binary
    return "" if fits else f"has the link {scorer.link_name}, which does not fit {len(scorer.W)} scores"


def _colours(gaussians: Any, sizes: Sizes) -> str:
    return "" if len(gaussians.colour) in (0, len(gaussians.means)) else "does not have a colour for each class"


def _units(scaling: Any, sizes: Sizes) -> str:
    return "" if (scaling.scale > 0).all() else "has a scale that is not above 0"


# The scaling of a table's columns. Its module is imported only when needed, since it needs PyArrow.
SCALING = Record("separatrix.table.scaling:Scaling", _units, center=numbers("d"), scale=numbers("d"))
FRAME = Record(Frame, center=numbers("d"), scale=numbers("d", finite=False, least=0))
GAUSSIANS = Record(
    Gaussians,
    _colours,
    frame=FRAME,
    priors=numbers("K", least=0),
    means=numbers("K", "d"),
    whiten=Several(numbers("d", ""), "K"),
    colour=Several(numbers("d", "")),
    constant=numbers("K"),
)
MOMENTS = Record(
    Moments,
    frame=FRAME,
    weight=numbers("K", least=0),
    n_rows=numbers("K", whole=True, least=0),
    mean=numbers("K", "d"),
    scatter=numbers("", "d", "d"),
)

_TABLE = numbers("", "", finite=False)
STATISTICS = Record(Statistics, coef=_TABLE, std_err=_TABLE, p_value=_TABLE, low=_TABLE, high=_TABLE)

SCORERS = Kinds(
    {
        "linear": Record(Scorer, _link, W=numbers("scores", "1+d"), classes=Labels("K"), link_name=Choice(LINKS)),
        "quadratic": Record(QuadraticScorer, gaussians=GAUSSIANS, classes=Labels("K")),
        "parts": Record(
            PartsScorer,
            scheme=Named(SCHEMES),
            estimators=Several(FittedModel(), "models"),
            W=Maybe(numbers("models", "1+d")),
            classes=Labels("K"),
        ),
    }
)


@dataclass(frozen=True)
class _Weights(Form):
    """(b, w), or one such row for each class."""

    def plain(self, value: Any, at: Writing) -> Any:
        return numbers(*[""] * value.ndim).plain(value, at)

    def read(self, found: Any, at: Reading) -> Any:
        one = isinstance(found, list) and not any(isinstance(row, list) for row in found)
        return numbers(*[""] * (1 if one else 2)).read(found, at)


_ABOUT = Record(About, classes=Labels(least=0))
_PROOF: dict[str, Form] = {
    "rows": ROWS,
    "against": ROWS,
    "signed": numbers("", ""),
    "about": _ABOUT,
    "given": Maybe(Whole()),
    "near": Maybe(numbers("")),
}
VERDICTS = Kinds(
    {
        "separable": Record(Separable, v=_Weights(), about=_ABOUT),
        "quasi-separable": Record(
            QuasiSeparable,
            direction=Whole(array=True),
            touching=ROWS,
            touching_against=ROWS,
            columns=ROWS,
            further=Several(Whole(array=True)),
            **_PROOF,
        ),
        "inseparable": Record(Inseparable, **_PROOF),
        "doubtful": Record(Doubtful),
    }
)
