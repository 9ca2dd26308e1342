"""The program: `rejoinder` and `python -m rejoinder`."""

import os
import sys


def open_closed_streams() -> None:
    """Open standard streams that are closed (`<&-`, `>&-`, `2>&-`), before another file can take their number.

    Standard input is then empty, standard error goes nowhere, and writing to standard output fails.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is not None:
            continue
        place = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
        if place != number:
            os.dup2(place, number)
            os.close(place)
        setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - until the end


def main() -> None:
    """Load and run the command line; an interruption while it loads ends like a later one."""
    open_closed_streams()
    try:
        from rejoinder.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("rejoinder: interrupted; nothing was begun\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
