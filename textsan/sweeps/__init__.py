"""A setting (splits of a corpus, problems to attack) and the one engine that makes tables: cells, records, hits.

Imports everything above it; nothing above knows that tables exist.
"""
