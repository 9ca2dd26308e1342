"""Studies with people: what they are asked, what each gets, where their answers are kept, and how these are read."""
