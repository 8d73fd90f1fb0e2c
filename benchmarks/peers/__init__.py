"""The registry of peers: a peer is one module here with its CONTESTANTS, one file of pins and one line below."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from benchmarks.contestant import Contestant

OURS = "separatrix"


@dataclass(frozen=True)
class Peer:
    """A module beside this one, and the distributions whose versions are shown."""

    module: str
    distributions: tuple[str, ...]

    def versions(self) -> dict[str, str]:
        found = {}
        for name in (*self.distributions, "numpy"):
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                found[name] = "not installed"
        return found


PEERS = {
    OURS: Peer("ours", ("separatrix",)),
    "scikit-learn": Peer("scikit_learn", ("scikit-learn",)),
    "scikit-learn-intelex": Peer("intelex", ("scikit-learn-intelex", "scikit-learn")),
    "glum": Peer("glum", ("glum", "tabmat")),
    "statsmodels": Peer("statsmodels", ("statsmodels",)),
    "liblinear": Peer("liblinear", ("liblinear-official",)),
    "celer": Peer("celer", ("celer",)),
    "skglm": Peer("skglm", ("skglm",)),
    "snapml": Peer("snapml", ("snapml",)),
    "vowpalwabbit": Peer("vowpal_wabbit", ("vowpalwabbit",)),
    "river": Peer("river", ("river",)),
    "scipy": Peer("scipy_programs", ("scipy",)),
    "firthmodels": Peer("firthmodels", ("firthmodels", "numba")),
}


def contestants_of(peer: str) -> tuple[Contestant, ...]:
    found: tuple[Contestant, ...] = import_module(f"benchmarks.peers.{PEERS[peer].module}").CONTESTANTS
    return found
