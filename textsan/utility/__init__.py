"""Utility of sanitized text: tasks, training on sanitized text, privacy read against utility.

Imports the rooms up to `attacks`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
