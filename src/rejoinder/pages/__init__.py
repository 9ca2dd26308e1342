"""The pages of a study: where people rate, and where whoever runs it looks on. Nothing in them is from outside."""
