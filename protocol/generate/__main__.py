"""``python -m protocol.generate [--check]``: writes the codecs of every declaration, or reports those that are outdated."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from protocol.generate.module import generate_module
from protocol.generate.source import layouts_module
from protocol.schema import messages_by_module

GENERATED = Path(__file__).parent.parent / "generated"
PACKAGE_DOC = '"""Codecs per message and version, written by ``python -m protocol.generate``; ``protocol.codec`` finds them."""\n'


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m protocol.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a file is not what would be written")
    check = parser.parse_args(arguments).check
    wanted = sources()
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    stale += [path for path in GENERATED.glob("*.py") if path not in wanted]
    for path in stale:
        sys.stderr.write(f"{'differs' if check else 'written'}: {path.name}\n")
        if check:
            continue
        if path in wanted:
            path.parent.mkdir(exist_ok=True)
            path.write_text(wanted[path])
        else:
            path.unlink()
    return 1 if check and stale else 0


def sources() -> dict[Path, str]:
    """Return the text of every file of the generated package."""
    files = {GENERATED / "__init__.py": PACKAGE_DOC}
    shared: dict[str, str] = {}
    for name, messages in messages_by_module().items():
        files[GENERATED / f"{name}.py"] = generate_module(name, messages, shared)
    files[GENERATED / "layouts.py"] = layouts_module(shared)
    return files


if __name__ == "__main__":
    sys.exit(main())
