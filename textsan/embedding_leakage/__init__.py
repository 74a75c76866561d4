"""What a sentence vector gives away: structured secrets, keywords, bags of words.

Imports the rooms up to `utility`.
"""
