"""The small tables of the lectures' examples."""

import numpy as np

XOR = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
PHI = np.column_stack([XOR, XOR.prod(axis=1)])
XOR_Y = np.array([0, 0, 1, 1])
LINE = np.arange(1.0, 9.0)[:, None]
LINE_Y = np.array([0] * 4 + [1] * 4)
PLANE = np.array([(i, i + 1) for i in range(5)] + [(i + 1, i) for i in range(5)], dtype=float)
PLANE_Y = np.array(["+"] * 5 + ["-"] * 5)


def with_row(X, y, row, label):
    return np.vstack([X, row]), np.append(y, label)
