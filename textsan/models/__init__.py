"""Encoders and language models by name, and context models trained on public text.

Imports `text`. torch and transformers are imported when a model is built.
"""
