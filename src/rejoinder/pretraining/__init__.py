"""Training sequence models on dialogues: the corpus as numbers on disk, and the order its batches come in."""
