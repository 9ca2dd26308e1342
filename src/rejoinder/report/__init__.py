"""Result objects to tables."""
