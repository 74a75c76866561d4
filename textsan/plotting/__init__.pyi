from .display import matrix as matrix, reading as reading, table as table
from .figures import (
    channel_map as channel_map,
    heat_map as heat_map,
    legend as legend,
    measured as measured,
    points as points,
    style as style,
    theory as theory,
)
from .looks import look as look
