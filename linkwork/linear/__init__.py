"""Sparse solvers with small dense blocks."""
