"""`python -m rejoinder` is the command `rejoinder`."""

from rejoinder.cli import main

main()
