"""Leakage of gradients: the text that a federated client trained on.

Case, attack and score are apart: `cases` says what server and client know, attacks see that only, `scores` see the
truth. Imports the rooms up to `embedding_leakage`.
"""
