"""The feature judge: groups of features of an example, each with the texts that it needs, and a head over them."""
