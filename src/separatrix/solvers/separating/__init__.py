"""Solvers that search for a separating hyperplane: perceptron, Kozinec, maximum margin."""
