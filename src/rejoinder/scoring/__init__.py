"""Scoring, replying and self-talk over files of any length: what the command, Python and others share."""
