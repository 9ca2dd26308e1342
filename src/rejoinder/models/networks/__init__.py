"""Networks in torch: the only modules of `models` that import it at the top."""
