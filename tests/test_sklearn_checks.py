"""scikit-learn's own checks on every classifier, with no expected failures."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from separatrix.classifiers import CLASSIFIERS


@parametrize_with_checks([make() for make in CLASSIFIERS.values()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
