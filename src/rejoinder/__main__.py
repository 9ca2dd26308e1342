"""`python -m rejoinder`: the command line."""

from rejoinder.cli import main

main()
