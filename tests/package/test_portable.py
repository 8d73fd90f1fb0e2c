"""``make test-portable`` runs under another arithmetic, not under the same by another name."""

import os
import platform

import pytest

from tests import portable

X86 = platform.machine().lower() in ("x86_64", "amd64")


def _host(*instructions, cores=("Haswell",), features=()):
    return portable.Probe(list(cores), list(features), "haswell", list(instructions))


@pytest.mark.parametrize(
    ("instructions", "names"),
    [
        ((), []),
        (("avx",), ["SSE3"]),
        (("avx", "avx2", "fma"), ["SSE3", "AVX"]),
        (("avx", "avx2", "fma", *portable.AVX512), ["SSE3", "AVX2 with FMA"]),
    ],
)
def test_the_oldest_and_the_newest_but_one_run(instructions, names):
    chosen, reason = portable.others(_host(*instructions), "x86_64")
    assert [level.name for level in chosen] == names
    assert all(level.name in reason for level in portable.LEVELS if level not in chosen)


def test_another_kind_of_processor_says_why_nothing_runs():
    assert portable.others(_host(), "aarch64") == ([], "levels are those of x86-64, and this is aarch64")


def test_numpy_is_denied_what_the_level_lacks():
    _, avx, avx2, avx512 = portable.LEVELS
    old, new = ["SSE42", "AVX", "FMA3", "AVX2", "AVX512F", "AVX512_SKX"], ["X86_V3", "X86_V4", "AVX512_ICL"]
    denied = {level: level.environment(old + new)["NPY_DISABLE_CPU_FEATURES"] for level in portable.LEVELS}
    assert denied[avx].split() == ["FMA3", "AVX2", "AVX512F", "AVX512_SKX", *new]
    assert denied[avx2].split() == ["AVX512F", "AVX512_SKX", "X86_V4", "AVX512_ICL"]
    assert denied[avx512] == ""


@pytest.mark.skipif(not X86, reason="the levels are those of x86-64")
def test_the_settings_are_heeded():
    if "OPENBLAS_CORETYPE" in os.environ:
        pytest.skip("this run has the arithmetic of another processor already")
    here = portable.probe()
    chosen, _ = portable.others(here, platform.machine())
    if not any(core in {level.core for level in portable.LEVELS} | {"Zen"} for core in here.cores):
        pytest.skip(f"the BLAS here has no levels to choose from: {here}")
    for level in chosen:
        assert portable.probe(level.environment(here.features)).plays(level)
        assert not here.plays(level)
