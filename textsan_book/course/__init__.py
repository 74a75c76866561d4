"""The book as a course: masters, the otter-grader assignments made of them, and the proof that both are right.

A master is one notebook in `book/course/masters/` that holds everything: text, solutions, visible and hidden
checks, wrong answers and a rubric. `versions` makes otter-grader's student and autograder zips of it, `verify`
proves that solutions pass and other answers do not, and `texts` collects what a person has to read. Submissions
are run by otter-grader alone.
"""
