"""Solvers that look for a separating hyperplane: perceptron, Kozinec, maximum margin."""
