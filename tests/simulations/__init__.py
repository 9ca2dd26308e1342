"""Simulated worlds with known truth, in which the rules of the statistics are tried."""
