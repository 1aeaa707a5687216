"""What the documents print exists: commands and their options, properties, files, targets of make.

Commands are those in blocks, and in code spans, which may leave out what is required. Pages that tests play are read, too.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest

from coordinator_server.catalog.setting_tables import GROUP_SETTINGS, TOPIC_SETTINGS
from coordinator_server.cli import program_parser
from coordinator_server.cli.client_properties import DEFAULTS
from coordinator_server.config.errors import ConfigError
from coordinator_server.config.load import parse_overrides
from coordinator_server.config.names import check_name

ROOT = Path(__file__).parents[3]
PAGES = [path for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "bench/*.md") for path in sorted(ROOT.glob(pattern))]
DEPLOYED = [path for path in sorted((ROOT / "deploy").rglob("*")) if path.is_file() and path.suffix != ".json"]
NAMES = {path: str(path.relative_to(ROOT)) for path in [*PAGES, *DEPLOYED]}
FENCED = re.compile(r"^```\w*[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^    [^\n]*\n)+", re.MULTILINE)
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
PROGRAM = re.compile(
    r"^(?:\$ +)?(?:podman exec \w+ |systemd-run .* )?(?:\w+=\S* +)*(?:\S*/)?"
    r"(?:coordinator-server|python3? -m coordinator_server) (?!ready on)(.*)$"
)
END_OF_COMMAND = re.compile(r"[|&;]+|\d?[<>].*")
CHOICE = re.compile(r"[a-z-]+(?:\|[a-z-]+)+")
LACKS = re.compile(r"required: |is required$|expected one argument$")
COMMENT = re.compile(r"^#   +(.*)$", re.MULTILINE)
MOMENT = "now"
PROPERTY = re.compile(r"^\"?([a-z][a-z0-9]*(?:\.[a-z0-9_-]+)+)\"? ?(?:=.*)?$")
FILE = re.compile(
    r"(?<![\w./-])((?:deploy|docs|scripts|tests|bench|examples|requirements|coordinator_server|protocol|\.github|\.ci)/(?:[\w./-]|\*(?!\*))*[\w*])"
)
TARGET = re.compile(r"(?:`|^    )make ([a-z][\w-]*)", re.MULTILINE)
# Names with dots that are no property of the server: files, modules, fields, and what others read.
FILES = re.compile(r".*\.(?:pem|key|lock|txt|py|json|toml|properties|sock|c)")
OF_OTHERS = re.compile(r"(?:spark|bench|org|node|os|self|tally|term|config|v\d+)\..*")
FEATURES = {f"{name}.version" for name in ("group", "share", "streams", "transaction", "metadata", "kraft")}
OF_CLIENTS = {
    "application.server",
    "auto.commit.interval.ms",
    "auto.offset.reset",
    "cluster.id",
    "eligible.leader.replicas.version",
    "group.protocol",
    "max.poll.interval.ms",
    "metadata.recovery.strategy",
    "reconnect.backoff.max.ms",
    "sasl.login.callback.handler.class",
    "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.method",
    "transaction.timeout.ms",
    "transactional.id",
}
# An internal one of Kafka: the page says that this server does not have it.
NOT_SERVED = {"group.share.initialize.retry.interval.ms"}
KNOWN_ELSEWHERE = {*FEATURES, *OF_CLIENTS, *NOT_SERVED, *DEFAULTS, *GROUP_SETTINGS, *TOPIC_SETTINGS}


def blocks(text: str) -> Iterator[str]:
    """The lines of code blocks, with continuations joined."""
    rest = FENCED.sub("", text)
    for block in [*FENCED.findall(text), *INDENTED.findall(rest)]:
        yield from re.sub(r"\\\n *", "", block).splitlines()


def spans(text: str) -> Iterator[str]:
    for found in SPAN.findall(FENCED.sub("", text)):
        yield " ".join(found.split())


class Printed(NamedTuple):
    """What follows the program's name in a command. One of a span may be a part."""

    text: str
    is_part: bool = False


def commands(path: Path) -> Iterator[Printed]:
    """The commands of a page, or in the comments of a file of ``deploy``."""
    text = path.read_text()
    if path.suffix == ".md":
        lines = [*((each, False) for each in blocks(text)), *((each, True) for each in spans(text))]
    else:
        lines = [(each, False) for each in COMMENT.findall(re.sub(r"\\\n#? *", "", text))]
    for each, is_part in lines:
        found = PROGRAM.match(each.strip())
        if found is not None and not found[1].startswith(("COMMAND", "…")):
            yield Printed(found[1], is_part)


def words_of(command: str) -> Iterator[list[str]]:
    """The words up to the end of the command, for each choice (``list|add``). An ellipsis stands for more options, or for what the
    option before it takes.
    """
    words: list[str] = []
    for word in shlex.split(command, comments=True):
        if END_OF_COMMAND.fullmatch(word):
            break
        if word != "…" or (words and words[-1].startswith("--")):
            words.append(MOMENT if word == "TIME" else word)
    yield from map(list, product(*(word.split("|") if CHOICE.fullmatch(word) else [word] for word in words)))


def complaint(command: Printed, capsys: pytest.CaptureFixture[str]) -> str | None:
    """Why the program refuses a command, or None."""
    for words in words_of(command.text):
        try:
            options = program_parser(words[0]).parse_args(words)
            for name in parse_overrides(getattr(options, "override", None) or []):
                check_name(name)
        except SystemExit as ended:
            said = capsys.readouterr().err.splitlines()
            if ended.code and not (command.is_part and LACKS.search(said[-1])):
                return said[-1]
        except ConfigError as wrong:
            return str(wrong)
    return None


@pytest.mark.parametrize("path", NAMES, ids=NAMES.get)
def test_every_command_that_is_printed_has_its_options(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {each.text: why for each in commands(path) if (why := complaint(each, capsys)) is not None}

    assert wrong == {}


def test_commands_are_found_where_readers_find_them() -> None:
    """In blocks of both kinds, in spans, and in the comments of files."""
    found = {NAMES[path]: list(commands(path)) for path in NAMES}

    assert sum(map(len, found.values())) > 150
    assert all(found[page] for page in ("README.md", "docs/install.md", "docs/cluster.md", "docs/spark.md", "docs/tokens.md"))
    assert all(found[page] for page in ("docs/operations.md", "docs/tutorials/first-hour.md", "deploy/Containerfile"))


def test_a_command_that_does_not_exist_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint(Printed("health --data-dir DIR", is_part=True), capsys) is not None
    assert complaint(Printed("serve --override log.flushes=os …"), capsys) is not None
    assert complaint(Printed("groups at GROUP TIME"), capsys) is not None
    assert complaint(Printed("groups at GROUP TIME --data-dir …  # then"), capsys) is None


@pytest.mark.parametrize("path", [path for path in PAGES if "decisions" not in path.parts], ids=NAMES.get)
def test_every_property_that_is_named_exists(path: Path) -> None:
    """Names with dots in code, whole or before an equals sign: the server's, those of clients and of Kafka's own settings.

    Decisions speak of parts of names, and of what was rejected.
    """
    text = path.read_text()
    named = {found[1] for each in [*spans(text), *blocks(text)] if (found := PROPERTY.match(each.strip())) is not None}
    ours = {name for name in named - KNOWN_ELSEWHERE if not FILES.fullmatch(name) and not OF_OTHERS.fullmatch(name)}

    assert [name for name in sorted(ours) if not is_property(name)] == []


def is_property(name: str) -> bool:
    try:
        check_name(name)
    except ConfigError:
        return False
    return True


@pytest.mark.parametrize("path", [*NAMES, ROOT / "Makefile"], ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_that_is_named_exists(path: Path) -> None:
    """By its path from the top of the repository; a star stands for any name, and NAME for one."""
    named = {each.replace("NAME", "*") for each in FILE.findall(path.read_text()) if not each.startswith("bench/build")}

    assert [each for each in sorted(named) if not any(ROOT.glob(each)) and not any(ROOT.glob(f"{each}.py"))] == []


@pytest.mark.parametrize("path", PAGES, ids=NAMES.get)
def test_every_target_of_make_that_is_named_exists(path: Path) -> None:
    targets = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))

    assert set(TARGET.findall(path.read_text())) - targets == set()
