"""Every kind of scorer, claim and verdict that a file can hold. A new one is one line in its registry.

Fields follow their annotations; named here are those that annotations say too little of: the axes of arrays, ranges,
and objects that go by a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.firth_claim import FirthClaim
from separatrix.certificates.likelihood_claim import LikelihoodClaim
from separatrix.certificates.moments_claims import GaussianClaim, LeastSquaresClaim, ProjectionClaim
from separatrix.certificates.parts_claim import PartsClaim
from separatrix.certificates.separation_claims import MarginClaim, SeparationClaim, Support
from separatrix.losses import LOSSES
from separatrix.losses.links import LINKS, BinaryLink
from separatrix.model_file.class_forms import Labels
from separatrix.model_file.forms import Choice, Maybe, Named, Number, Pairs, Plain, Sentence, Several, Whole, numbers
from separatrix.model_file.nested_models import FittedModel
from separatrix.model_file.places import Form, Reading, Writing
from separatrix.model_file.records import Kinds, Record
from separatrix.moments.coding import TARGETS
from separatrix.moments.gather import Moments
from separatrix.moments.gaussians import Gaussians, QuadraticScorer
from separatrix.moments.projected_rows import DIRECTIONS, THRESHOLDS, Projection
from separatrix.proofs.naming import About
from separatrix.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable
from separatrix.rows import Frame
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
    return "" if len(gaussians.colour) in (0, len(gaussians.means)) else "has not a colour for each class"


def _outputs(claim: Any, sizes: Sizes) -> str:
    wanted = TARGETS[claim.targets].n_outputs(sizes["K"])
    return "" if len(claim.weights) == wanted else f"has {len(claim.weights)} outputs, where there must be {wanted}"


def _support(support: Any, sizes: Sizes) -> str:
    return "" if len(support.rows) == len(support.weights) else "has not a weight for each row"


def _units(scaling: Any, sizes: Sizes) -> str:
    return "" if (scaling.scale > 0).all() else "has a scale that is not above 0"


# The units of a table's columns; its module is loaded when asked for: it needs PyArrow.
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

SCORERS = Kinds(
    {
        "linear": Record(Scorer, _link, W=numbers("scores", "1+d"), classes=Labels("K"), link_name=Choice(LINKS)),
        "quadratic": Record(QuadraticScorer, gaussians=GAUSSIANS, classes=Labels("K")),
        "parts": Record(
            "separatrix.classifiers.combined:PartsScorer",  # loaded when asked for: it needs scikit-learn
            scheme=Named(SCHEMES),
            estimators=Several(FittedModel(), "models"),
            W=Maybe(numbers("models", "1+d")),
            classes=Labels("K"),
        ),
    }
)
_LINEAR = SCORERS.only("linear")

_CLAIMS: dict[str, Record] = {
    "likelihood": Record(
        LikelihoodClaim,
        scorer=_LINEAR,
        C=Number(above=0.0),
        penalty_factors=numbers("d", least=0),
        class_weights=numbers("K", least=0),
        loss=Choice(LOSSES),
        l1_ratio=Number(0.0, 1.0),
    ),
    "firth": Record(FirthClaim, scorer=_LINEAR, class_weights=numbers("K", least=0)),
    "least-squares": Record(
        LeastSquaresClaim,
        _outputs,
        scorer=_LINEAR,
        weights=numbers("", "1+d"),
        targets=Choice(TARGETS),
        l2=Number(0.0),
    ),
    "projection": Record(
        ProjectionClaim,
        scorer=SCORERS,
        projection=Record(Projection, V=numbers("d", ""), direction=Choice(DIRECTIONS), threshold=Choice(THRESHOLDS)),
    ),
    "gaussian": Record(GaussianClaim, scorer=SCORERS, gaussians=GAUSSIANS),
    "separation": Record(SeparationClaim, scorer=_LINEAR),
    "margin": Record(
        MarginClaim,
        scorer=_LINEAR,
        supports=Several(Record(Support, _support, rows=ROWS, weights=numbers("", least=0)), "scores"),
    ),
}
CLAIMS = Kinds(_CLAIMS)
# Of parts: each part's claim is about two classes of its own, and stands with the part.
_CLAIMS["parts"] = Record(PartsClaim, scorer=SCORERS, scheme=Named(SCHEMES), claims=Several(Maybe(CLAIMS), "models"))
CERTIFICATE = Record(
    Certificate,
    claim=CLAIMS,
    facts=Pairs(),
    iterations=Plain(int, 0),
    n_rows=Plain(int, 0),
    status=Sentence(),
    why=Sentence(),
    bound_reason=Sentence(),
)


@dataclass(frozen=True)
class _Weights(Form):
    """(b, w), or one such row a class."""

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
            **_PROOF,
        ),
        "inseparable": Record(Inseparable, **_PROOF),
        "doubtful": Record(Doubtful),
    }
)
