"""rejoinder inside the tools that people evaluate with: a file each, which alone imports the tool of its name."""
