"""The HTTP service: scores, comparisons and audits over HTTP, by the scorers that were named at the start."""
