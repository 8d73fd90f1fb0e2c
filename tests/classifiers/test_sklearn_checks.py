"""scikit-learn's own checks on every classifier, with no expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from separatrix.classifiers import CLASSIFIERS


# Some checks hand a separating classifier rows that nothing separates, of which it warns, as it should.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([make() for make in CLASSIFIERS.values()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
