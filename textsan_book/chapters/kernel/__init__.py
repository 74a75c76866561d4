"""Code that runs inside a chapter's kernel, beside the chapter.

This folder is on the kernel's path, and nothing here imports the package, which would count as used.
"""
