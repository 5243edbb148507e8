"""Exercises, their checks, and grading a class: what a learner's answer is held against, and by whom."""
