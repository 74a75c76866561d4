from .releasing import (
    release_file as release_file,
    release_files as release_files,
    release_series as release_series,
)
