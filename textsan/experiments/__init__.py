"""Experiments: splits of a corpus, problems to attack, sweeps over them, sources that are known.

Imports everything above it; nothing above knows that experiments exist.
"""
