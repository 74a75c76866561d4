"""The version that is installed, read from the package's metadata when somebody asks."""

from importlib.metadata import version

__version__ = version("textsan")
