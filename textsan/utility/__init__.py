"""What sanitized text is still good for: tasks, training on sanitized text, privacy read against utility.

Imports the rooms up to `attacks`.
"""
