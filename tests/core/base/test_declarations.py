"""Declarations that are read from the source of a module."""

import pytest

from separatrix.core.base.lazy import declared


def test_a_declaration_that_cannot_be_evaluated_names_its_module(tmp_path, monkeypatch):
    (tmp_path / "half_described.py").write_text(
        "from separatrix.classifiers.description import Description\n\n"
        'DESCRIPTION = Description(about="it lacks its claims")\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(TypeError, match=r"DESCRIPTION in half_described: .* 'claims'"):
        declared("half_described", "DESCRIPTION")
