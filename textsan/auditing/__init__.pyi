from .any_release import audit_release as audit_release
from .choosing import Choice as Choice, choose_epsilon as choose_epsilon
from .comparing import compare_releases as compare_releases
from .measuring import audit as audit
from .report import Report as Report
