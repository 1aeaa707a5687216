"""What the site has beside docs/: the pages at the top of the repository, and the commands with their options.

A hook of MkDocs (``mkdocs.yml``). Documents link to each other as files of the repository, so that they work where it is hosted;
here those links are turned to pages of the site, and links to other files (sources, units, programs) into their names. A site is
a directory of its version; whoever publishes one keeps those of earlier versions beside it.
"""

from __future__ import annotations

import argparse
import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mkdocs.structure.files import File, Files

from coordinator_server.cli import COMMANDS, program_parser

ROOT: Final = Path(__file__).resolve().parent.parent
BESIDE: Final = (
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "RELIABILITY.md",
    "SECURITY.md",
    "bench/README.md",
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("examples/**/README.md")),
)
_LINK: Final = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not in docs/."""
    for path in BESIDE:
        files.append(File.generated(config, path, content=(ROOT / path).read_text()))
    files.append(File.generated(config, "command-line.md", content="\n".join(_command_line())))
    return files


def on_page_markdown(markdown: str, page: Any, files: Files, **_: Any) -> str:
    """Turn links to files of the repository into links of the site."""
    path = page.file.src_uri
    here = posixpath.dirname(path if path in BESIDE else f"docs/{path}")

    def linked(match: re.Match[str]) -> str:
        words, target = match.groups()
        if "://" in target or target.startswith("#"):
            return match[0]
        file, _, anchor = target.partition("#")
        named = posixpath.normpath(posixpath.join(here, file))
        site = named.removeprefix("docs/")
        if files.get_file_from_path(site) is None:
            return words
        where = posixpath.relpath(site, posixpath.dirname(path) or ".")
        return f"[{words}]({where}{'#' if anchor else ''}{anchor})"

    return _LINK.sub(linked, markdown)


def on_post_build(config: Any) -> None:
    """List the versions that are beside this one, newest first, for the choice at the top. The site begins at the newest."""
    site = Path(config["site_dir"]).parent
    versions = sorted((each.parent.name for each in site.glob("*/sitemap.xml")), key=_order, reverse=True)
    listed = [{"version": each, "title": each, "aliases": ["latest"] if each == versions[0] else []} for each in versions]
    (site / "versions.json").write_text(json.dumps(listed))
    (site / "index.html").write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={versions[0]}/index.html">\n')


def _order(version: str) -> list[int]:
    return [int(each) for each in re.findall(r"\d+", version)]


def _command_line() -> Iterator[str]:
    yield "# Commands and their options\n"
    yield "Made from the parsers of the commands; `--help` shows the same. [What they have in common](commands.md).\n"
    for name in COMMANDS:
        yield from _command(_inner(program_parser(name))[name], 2)


def _command(command: argparse.ArgumentParser, level: int) -> Iterator[str]:
    yield f"{'#' * level} {command.prog.partition(' ')[2]}\n"
    yield f"```text\n{command.format_help().strip()}\n```\n"
    for inner in _inner(command).values():
        yield from _command(inner, level + 1)


def _inner(command: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return next((dict(each.choices) for each in command._actions if isinstance(each, argparse._SubParsersAction)), {})
