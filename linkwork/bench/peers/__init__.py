"""The same mechanisms in every engine: one neutral description, one adapter file per engine, one way of measuring.

A peer may live in an environment of its own, so this package needs nothing but NumPy until an adapter is imported.
"""
