"""The judge over views: groups of features of an example, each with what it needs, and a head over them."""
