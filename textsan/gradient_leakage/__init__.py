"""What a gradient gives away: the text that a federated client trained on.

Imports the rooms up to `embedding_leakage`.
"""
