"""The tests under the arithmetic of other processors: ``python -m tests.portable [arguments of pytest]``.

The same program gives different last bits on another processor: NumPy and OpenBLAS choose their loops by the
instructions they find, Numba compiles for them, and the C library has versions of exp and log with and without fused
multiply-add. Each level below makes all four behave as on an older processor. Two levels run: the oldest, and the
newest one below this processor's own. They run the whole suite rather than a part of it, because a digit can be
compared, printed or stored anywhere.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Level:
    """A generation of x86-64 processors.

    ``core`` is its name in OpenBLAS and ``cpu`` its name in LLVM. A processor must have the instructions ``needs``
    (LLVM's names) to run it. ``newer`` is a pattern of NumPy's features, ``hwcaps`` a list of glibc's, that it lacks.
    """

    name: str
    core: str
    cpu: str
    needs: tuple[str, ...]
    newer: str
    hwcaps: tuple[str, ...]

    def environment(self, features: list[str]) -> dict[str, str]:
        """The variables that switch to it; ``features``: what NumPy found beyond its baseline."""
        return {
            "OPENBLAS_CORETYPE": self.core,
            "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in features if re.match(self.newer, name)),
            "NUMBA_CPU_NAME": self.cpu,
            "NUMBA_CPU_FEATURES": "",  # none beside those of the name
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + ",".join(f"-{name}" for name in self.hwcaps),
        }


AVX512 = ("avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl")
LEVELS = (
    Level("SSE3", "Prescott", "generic", (), ".", ("AVX", "AVX2", "FMA", "FMA4", "AVX512F")),
    Level("AVX", "Sandybridge", "sandybridge", ("avx",), "AVX2|FMA|X86|AVX512", ("AVX2", "FMA", "FMA4", "AVX512F")),
    Level("AVX2 with FMA", "Haswell", "haswell", ("avx2", "fma"), "X86_V4|AVX512", ("AVX512F",)),
    Level("AVX-512", "SkylakeX", "skylake-avx512", AVX512, "(?!)", ()),
)
# OpenBLAS uses the same loops for all of these, and reports the first name.
REPORTED = {"Prescott": ("Prescott", "Katmai", "Northwood", "Coppermine", "Banias")}

# Asked inside a fresh process, so that a setting without effect is noticed.
_PROBE = """
import json, llvmlite.binding, numba, numpy, scipy.linalg, threadpoolctl
from numba.core.registry import cpu_target
print(json.dumps({
    "cores": sorted({lib.get("architecture", lib["internal_api"]) for lib in threadpoolctl.threadpool_info()
                     if lib["user_api"] == "blas"}),
    "features": numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", []),
    "cpu": cpu_target.target_context.codegen().magic_tuple()[1],
    "instructions": [name for name, there in llvmlite.binding.get_host_cpu_features().items() if there],
}))
"""


@dataclass(frozen=True)
class Probe:
    """What a process computes with: OpenBLAS' ``cores``, NumPy's ``features``, the ``cpu`` that Numba compiles for."""

    cores: list[str]
    features: list[str]
    cpu: str
    instructions: list[str]

    def __str__(self) -> str:
        features = " ".join(self.features) or "its baseline alone"
        return f"OpenBLAS {' and '.join(self.cores)}, NumPy {features}, Numba {self.cpu}"

    def plays(self, level: Level) -> bool:
        core_is_right = set(self.cores) <= set(REPORTED.get(level.core, (level.core,)))
        return (
            core_is_right and self.cpu == level.cpu and not any(re.match(level.newer, name) for name in self.features)
        )


def probe(settings: dict[str, str] | None = None) -> Probe:
    """Ask a fresh process with these settings beside those of this one."""
    environment = os.environ | (settings or {})
    done = subprocess.run(
        [sys.executable, "-c", _PROBE], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    return Probe(**json.loads(done.stdout))


def others(here: Probe, machine: str) -> tuple[list[Level], str]:
    """The levels to run on this processor, and why not the rest."""
    if machine.lower() not in ("x86_64", "amd64"):
        return [], f"levels are those of x86-64, and this is {machine}"
    able = [level for level in LEVELS if set(level.needs) <= set(here.instructions)]
    own, older = able[-1], able[:-1]
    chosen = [level for level in older if level in (older[0], older[-1])]
    reasons = [f"{level.name} is above this processor" for level in LEVELS if level not in able]
    reasons += [f"{own.name} is its own"] + [f"{level.name} lies between" for level in older if level not in chosen]
    return chosen, "; ".join(reasons)


def main(arguments: list[str]) -> int:
    here = probe()
    print(f"This processor: {here}", flush=True)
    chosen, reason = others(here, platform.machine())
    print(f"Not run: {reason}.", flush=True)
    passed: dict[str, bool] = {}
    for level in chosen:
        settings = level.environment(here.features)
        there = probe(settings)
        if not there.plays(level):
            print(f"\n{level.name}: skipped, since the settings have no effect here: {there}", flush=True)
            continue
        print(f"\n{level.name}: {there}", flush=True)
        tests = subprocess.run([sys.executable, "-m", "pytest", *arguments], env=os.environ | settings, check=False)
        passed[level.name] = tests.returncode == 0
    results = [f"{name} {'passed' if fine else 'FAILED'}" for name, fine in passed.items()]
    print(f"\nWith other arithmetic: {', '.join(results) or 'nothing was run'}.")
    return 0 if all(passed.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
