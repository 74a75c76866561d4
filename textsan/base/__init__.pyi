from . import assets as assets, checks as checks
from .plugins import load_plugin as load_plugin
from .project import project_data as project_data
