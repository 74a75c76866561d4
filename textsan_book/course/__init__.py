"""The book as a course: masters, the versions made of them, three graders, and the proof that they agree.

A master is one notebook in `book/course/masters/` that holds everything: text, solutions, visible and hidden
checks, wrong answers and a rubric. `versions` makes of it what students and instructors get, `sandbox` runs a
student's functions in a process of their own, `grading` gives points, and `verify` proves that solutions pass
and other answers do not.
"""
