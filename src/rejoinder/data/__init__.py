"""Reading and writing: any file or object a user has to examples, and back."""

from rejoinder.data.read import How, examples_of, lines_of, pairs_of, read, read_lines, read_pairs, read_rows

__all__ = ["How", "examples_of", "lines_of", "pairs_of", "read", "read_lines", "read_pairs", "read_rows"]
