"""Exercises: which figures of a problem are left to the student, and variants of it that can be marked fairly."""
