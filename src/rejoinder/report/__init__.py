"""Results of analyses, and how they are shown: tables, charts, sentences, and one renderer per format."""
