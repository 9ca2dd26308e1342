"""Analyses of scores and ratings. Each turns a `ScoredSet` or files into estimates and is shown by `report`."""
