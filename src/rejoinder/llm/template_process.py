"""Renders a chat template that comes from a stranger, in a process of its own: JSON in, JSON out.

It is run by its path, not imported: it needs jinja2 alone, and it limits its own memory and time before it reads the
template. Its environment is that of transformers, but the date is always the same, so that texts do not change by day.
"""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any, NoReturn

SECONDS = 10
_MEMORY = 2**30  # bytes
_MAX_CHARACTERS = 1_000_000


def limit(seconds: int) -> None:
    """Take no more than some memory and time, and write no file; where the system has no such limits, none are set."""
    try:
        import resource
    except ImportError:
        return
    limits = ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, _MEMORY), (resource.RLIMIT_FSIZE, 0))
    for kind, most in limits:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (most, most))


def environment() -> Any:
    """The environment that chat templates are written for."""
    from datetime import datetime

    import jinja2
    from jinja2.ext import Extension, loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        """The block `generation`, which marks what the assistant says and changes nothing."""

        tags = {"generation"}  # noqa: RUF012 (the form that jinja2 wants)

        def parse(self, parser: Any) -> Any:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    def stop(message: str) -> NoReturn:
        raise jinja2.TemplateError(str(message))

    def tojson(value: Any, ensure_ascii: bool = False, indent: Any = None, **options: Any) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **options)

    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = stop
    made.globals["strftime_now"] = datetime(2024, 7, 26).strftime
    return made


def main() -> None:
    """Render the template for each list of messages on standard input."""
    limit(int(sys.argv[1]))
    task = json.load(sys.stdin)
    sys.path[:] = task["path"]
    try:
        template = environment().from_string(task["template"])
        texts = [
            template.render(messages=messages, add_generation_prompt=ask, tools=None, documents=None, **task["tokens"])
            for messages, ask in task["conversations"]
        ]
        if sum(map(len, texts)) > _MAX_CHARACTERS:
            raise MemoryError
    except MemoryError:
        result: dict[str, Any] = {"problem": "writes too much"}
    except Exception as error:  # noqa: BLE001 (whatever a template raises is its own fault)
        result = {"problem": f"raises {type(error).__name__}: {' '.join(str(error).split()):.160}"}
    else:
        result = {"texts": texts}
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
