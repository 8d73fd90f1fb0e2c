"""Fixtures for tests of several packages."""

from xml.sax.saxutils import quoteattr

import pytest


def _words_of(display, name):
    return f"<svg role='img' aria-label={quoteattr(display.alternative)}></svg>"


@pytest.fixture
def undrawn(monkeypatch):
    """Reports have the words of their figures, and not the drawings, which take 99 % of the time of a report.

    For tests that read what a page says. ``tests/output/report/test_report.py`` draws the figures of all classifiers.
    """
    monkeypatch.setattr("separatrix.output.report.page.svg", _words_of)
