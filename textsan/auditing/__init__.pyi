from .measuring import audit as audit
from .report import Report as Report
