"""Figures and tables with one look: what a notebook shows of channels, attacks and bounds.

Imports the rooms above; computes nothing that an attack or a bound should compute.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
