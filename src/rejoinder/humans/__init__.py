"""People's side: the lines that they rated, and how far they agree with each other."""
