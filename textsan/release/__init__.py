"""Files in, sanitized files out, with a record of what was promised.

Imports the rooms above; the command line is a shell over it.
"""
