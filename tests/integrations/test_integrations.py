"""What holds for every tool: its library is asked for by name where it is not there, and by nobody else."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from rejoinder.errors import MissingExtra

LIBRARIES = {"deepeval": "deepeval", "evaluate": "evaluate", "inspect_ai": "inspect-ai", "mlflow": "mlflow"}


@pytest.mark.parametrize(("name", "library"), LIBRARIES.items())
def test_a_missing_library_is_named(name: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = f"rejoinder.integrations.{name}"
    monkeypatch.delitem(sys.modules, module, raising=False)
    for loaded in [one for one in sys.modules if one.partition(".")[0] == library.replace("-", "_")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, library.replace("-", "_"), None)
    with pytest.raises(MissingExtra, match=rf"needs {library}. Install it: pip install {library}$"):
        import_module(module)


def test_rejoinder_imports_none_of_them() -> None:
    loaded = "[one for one in sys.modules if 'integrations.' in one]"
    code = f"import sys, rejoinder.cli, rejoinder.integrations; print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
