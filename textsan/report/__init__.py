"""What is shown: result tables, claims, the scoreboard, figures and tables of the book.

Imports the rooms above; computes nothing that an attack or a bound should compute.
"""
