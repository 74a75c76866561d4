"""Files in, sanitized files out, with a record of what was promised.

Imports the rooms above; the command line is a shell over it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
