"""Marking: figures that somebody wrote, beside those of the solution."""
