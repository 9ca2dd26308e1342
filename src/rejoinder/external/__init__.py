"""Scorers that get their numbers elsewhere: a column, a Python function, a program."""
