"""The modules of the page as one script.

Chromium keeps the compiled code of a script. That of modules it keeps, too, but does not use in a new process, which each tab has
(docs/decisions/past.md, 139). So a browser gets one script, in which each module is a function that is called once, after those
that it imports, and returns what it exports. It is made when the page starts: the files in ``static`` stay modules.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_IMPORT: Final = re.compile(r'^import (\{ .+ \}) from "\./(.+)";$', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_EXPORT_LIST: Final = re.compile(r"export\{([^{}]+)\};?\s*\Z")
"""How a minified module exports: at its end, by other names."""


def modules_of(directory: Path, name: str) -> list[str]:
    """Return a module and those that it needs, each after those that it imports. Names are paths in the directory."""
    found: list[str] = []

    def add(one: str) -> None:
        for _, imported in _IMPORT.findall((directory / one).read_text()):
            if imported not in found:
                add(imported)
        found.append(one)

    add(name)
    return found


def script_of(directory: Path, names: list[str]) -> str:
    """Return modules as one script, in the order of their names."""
    return "\n".join(['"use strict";', "const modules = {};", *(_called(name, (directory / name).read_text()) for name in names)])


def _called(name: str, text: str) -> str:
    fields = _EXPORT.findall(text)
    for listed in _EXPORT_LIST.findall(text):
        fields += [": ".join(reversed(each.split(" as "))) for each in listed.split(",")]
    text = _EXPORT_LIST.sub("", _EXPORT.sub("", text))
    text = _IMPORT.sub(lambda found: f'const {found[1].replace(" as ", ": ")} = modules["{found[2]}"];', text)
    return f'modules["{name}"] = (() => {{\n{text}\nreturn {{ {", ".join(fields)} }};\n}})();'
