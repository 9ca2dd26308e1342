"""Where the program begins: `rejoinder`, and `python -m rejoinder`."""

import sys


def main() -> None:
    """Load the command line and run it; an interruption while it loads ends as any later one does."""
    try:
        from rejoinder.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("rejoinder: interrupted; nothing was begun\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
