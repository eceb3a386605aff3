"""Exercises: variants of a problem that can be marked fairly, and the sheets that ask for their figures."""
