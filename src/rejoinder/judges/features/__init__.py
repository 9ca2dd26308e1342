"""Features: what a judge measures of a reply."""
