"""One file a closed-form metric."""
