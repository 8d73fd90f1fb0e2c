"""Settings, fields and claims that several classifiers' descriptions share."""

from __future__ import annotations

from separatrix.classifiers.description import (
    ANY_CLAIM,
    ANY_SCORER,
    COUNT,
    FITTED_MODEL,
    GAUSSIANS,
    LINEAR_SCORER,
    ROWS,
    SCHEME,
    VERDICT,
    Field,
    Setting,
    array,
    record,
)

C = Setting(
    "--C",
    "C",
    "Inverse regularisation strength; 1 by default. For logistic also inf (no penalty) or auto (chosen by "
    "leave-one-out cross-validation).",
    float,
    words=("auto",),
    metavar="NUMBER",
    span=(0.001, 1000.0),
)
LOSS = Setting(
    "--loss",
    "loss",
    "For logistic: logistic (the default), probit, cloglog or squared-sigmoid. For linear-svc: squared_hinge (the "
    "default) or hinge.",
    metavar="NAME",
)
SOLVER = Setting(
    "--solver", "solver", "auto (the default)", names="separatrix.solvers.registry:SOLVERS", metavar="NAME"
)
L1_RATIO = Setting(
    "--l1-ratio",
    "l1_ratio",
    "Elastic-net mixing parameter, from 0 (ridge, the default) to 1 (lasso, which makes some weights exactly zero).",
    float,
    metavar="SHARE",
    span=(0.0, 1.0),
)
NO_INTERCEPT = Setting("--no-intercept", "fit_intercept", "Fit without an intercept.", flag=False)
CLASS_WEIGHT = Setting("--class-weight", "class_weight", "Give every class the same total weight.", words=("balanced",))
TOL = Setting(
    "--tol",
    "tol",
    "Tolerance: stop when the proven gap between the objective and its minimum is at most this multiple of the null "
    "model's objective; 1e-8 by default.",
    float,
    metavar="NUMBER",
    span=(1e-12, 0.1),
)
MAX_ITER = Setting("--max-iter", "max_iter", "Maximum number of iterations.", int, metavar="N", span=(1, 10_000))

# The fitted attributes of classifiers that search for a separating hyperplane.
SEARCHED: dict[str, Field] = {"n_iter_": COUNT, "verdicts_": VERDICT.maybe().for_each("scores")}
SEPARATION = record("separatrix.certificates.separation_claims:SeparationClaim", scorer=LINEAR_SCORER)
MARGIN = record(
    "separatrix.certificates.separation_claims:MarginClaim",
    scorer=LINEAR_SCORER,
    supports=record(
        "separatrix.certificates.separation_claims:Support", rows=ROWS, weights=array("", least=0)
    ).for_each("scores"),
)

# The fitted attributes of classifiers that fit Gaussians to the classes.
GENERATIVE: dict[str, Field] = {"gaussians_": GAUSSIANS, "means_": array("K", "d"), "priors_": array("K", least=0)}
GAUSSIAN_CLAIM = record("separatrix.certificates.moments_claims:GaussianClaim", scorer=ANY_SCORER, gaussians=GAUSSIANS)

# The fitted attributes of schemes that combine two-class models.
ONE_VERSUS: dict[str, Field] = {
    "_W": array("models", "1+d").maybe(),
    "cost_": record("separatrix.scorers.schemes:SchemeCost", imbalance=array("models", "", whole=True, least=0)),
    "estimators_": FITTED_MODEL.for_each("models", list),
}
# Each part's claim is about its own two classes, and the file stores it with the part.
PARTS_CLAIM = record(
    "separatrix.certificates.parts_claim:PartsClaim",
    scorer=ANY_SCORER,
    scheme=SCHEME,
    claims=ANY_CLAIM.maybe().for_each("models"),
)
