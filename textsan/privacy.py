"""Definitions of differential privacy as executable checks: each returns the tight parameter of a channel."""
