"""Published numbers and claims beside ours: matched units, verdicts, the scoreboard.

Imports `textsan` and the studies; runs no attack.
"""
