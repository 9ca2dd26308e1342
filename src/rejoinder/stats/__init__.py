"""Pure functions on arrays: correlation, resampling."""
