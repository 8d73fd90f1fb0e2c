"""The one line that adds the nearest mean; loaded by ``pytest -p``, before the tests that list classifiers."""

from separatrix.classifiers import OFFERED

OFFERED["nearest-mean"] = ("tests.package.nearest_mean", "NearestMean")
