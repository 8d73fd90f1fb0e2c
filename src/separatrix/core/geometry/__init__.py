"""Hyperplanes and distances, decision regions in the plane, curved boundaries, and level sets.

See docs/tour.md, G1–G6, M3, B4.
"""
