"""Do what a page of the documentation says, as its reader would, and compare what it prints with what comes.

    scripts/play_page.py docs/tutorials/first-hour.md --wheel dist/NAME.whl

A page is played from top to bottom in an empty directory. What counts in it:

- Blocks of the kind ``console``. ``$ `` begins a command, which has to end with 0; the lines below are what it prints to stdout.
  ``…`` stands for any text, and alone on a line for any lines. Without such lines it may print anything.
- Such a block with a title (``console title="first terminal"``) is a terminal of its own. Its last command stays in the
  foreground once it has printed its lines; a later block of that title goes on there, with more of them, or with ``^C``.
- Any other block with a title is a file of that name.
- ``<http://127.0.0.1:9405/>`` is opened, as in a browser.

Addresses on 127.0.0.1 are moved to ports that are free. With ``--wheel``, pip finds this version of
coordinator-server where the wheel is, and for the rest the pins of requirements/. Exit code 1: the page is wrong, or took too long.
"""

from __future__ import annotations

import argparse
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, Final, NamedTuple, NoReturn, Self

ROOT: Final = Path(__file__).resolve().parent.parent
STEP_S: Final = 240
"""The longest that a step may take: pip has little of a machine on which the tests run, and a disk may stand still."""
_PART: Final = re.compile(
    r"^```(?P<kind>\w*)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$|<(?P<link>http://127\.0\.0\.1:[^>\s]+)>",
    re.MULTILINE | re.DOTALL,
)
_ADDRESS: Final = re.compile(r"127\.0\.0\.1:(\d+)")
_PIN: Final = re.compile(r"^([\w.-]+)(?:\[[^\]]*\])?==([^ ;\\]+)", re.MULTILINE)
_ENDS: Final = "^C"


class Wrong(Exception):
    """The page is not what happens; the message says where."""


class Step(NamedTuple):
    """A command, what it prints, or ctrl-C."""

    command: str | None
    printed: list[str]
    may_stay: bool
    """Whether nothing is typed behind it but ctrl-C."""


def steps_of(block: str) -> list[Step]:
    """Return what a console block does, from top to bottom."""
    steps: list[Step] = []
    lines = block.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("$ "):
            following = next((each for each in lines[number + 1 :] if each.startswith("$ ") or each == _ENDS), _ENDS)
            steps.append(Step(line[2:], [], may_stay=following == _ENDS))
        elif line == _ENDS:
            steps.append(Step(_ENDS, [], may_stay=False))
        else:
            if not steps:
                steps.append(Step(None, [], may_stay=True))
            steps[-1].printed.append(line)
    return steps


def pattern_of(printed: list[str]) -> re.Pattern[str]:
    """Return what fits the lines that a page prints."""
    parts = [
        r"(?:.*\n)*?" if line.strip() == "…" else r"[^\n]*?".join(re.escape(each) for each in line.split("…")) + r"[ \t]*\n"
        for line in printed
    ]
    return re.compile("".join(parts))


class Terminal:
    """One terminal: at most one command is in its foreground. What it prints to stderr goes to ``errors``."""

    def __init__(self, directory: Path, environment: Mapping[str, str], errors: IO[bytes]) -> None:
        self._directory = directory
        self._environment = environment
        self._errors = errors
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""

    def do(self, step: Step, *, stays: bool) -> None:
        """Do one step. ``stays``: its command is left in the foreground once it has printed its lines."""
        if step.command == _ENDS:
            self.end(signal.SIGINT)
            return
        if step.command is not None:
            self._await_exit()
            self._start(step.command)
        if stays:
            self._await_lines(step.printed)
        else:
            self._await_exit(step.printed)

    def end(self, how: signal.Signals) -> None:
        """End what is in the foreground."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        try:
            process.wait(STEP_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise Wrong(f"{how.name} does not end it: {process.args!r}") from None
        finally:
            _out(process).close()

    def _start(self, command: str) -> None:
        self._unread = b""
        self._process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self._directory,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )

    def _await_lines(self, printed: list[str]) -> None:
        """Until the lines are there. What does not fit yet may fit when more has come."""
        pattern = pattern_of(printed)
        deadline = time.monotonic() + STEP_S
        while (found := pattern.match(self._text)) is None:
            if not self._read(deadline):
                self._differ(printed)
        self._unread = self._text[found.end() :].encode()

    @property
    def _text(self) -> str:
        return self._unread.decode(errors="replace")

    def _await_exit(self, printed: list[str] | None = None) -> None:
        """Until the end of what is in the foreground, which has printed the lines, if there are any."""
        process = self._process
        if process is None:
            return
        deadline = time.monotonic() + STEP_S
        while self._read(deadline):
            pass
        try:
            code = process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Wrong(f"{process.args!r} does not end within {STEP_S} s") from None
        self.end(signal.SIGKILL)
        if code:
            raise Wrong(f"it ended with {code}\n{self._text}")
        if printed and pattern_of(printed).fullmatch(self._text) is None:
            self._differ(printed)

    def _read(self, deadline: float) -> bool:
        """Read more of what is printed; whether there was some before the end."""
        if self._process is None:
            return False
        out = _out(self._process)
        if not select.select([out], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return False
        chunk = os.read(out.fileno(), 65_536)
        self._unread += chunk
        return bool(chunk)

    def _differ(self, printed: list[str]) -> NoReturn:
        expected = "\n".join(printed)
        raise Wrong(f"expected\n{expected}\nand it printed\n{self._text}")


class Player:
    """Plays a page in a directory."""

    def __init__(self, directory: Path, environment: Mapping[str, str]) -> None:
        self._directory = directory
        self._environment = environment
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        self._terminals: dict[str, Terminal] = {}

    def __enter__(self) -> Self:
        # A shell starts what is in its background with ctrl-C ignored, and so would be what the page starts.
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for each in self._terminals.values():
            each.end(signal.SIGKILL)
        self._errors.close()

    def play(self, text: str) -> Iterator[tuple[str, float]]:
        """Yield each step that was done, and its seconds. Raises Wrong."""
        for part in _PART.finditer(_with_free_ports(text)):
            title, content = part["title"], part["text"]
            if part["link"]:
                yield self._done(f"open {part['link']}", partial(_open, part["link"]))
            elif part["kind"] == "console":
                terminal = self._terminals.setdefault(title or "", Terminal(self._directory, self._environment, self._errors))
                for step in steps_of(content):
                    stays = step.may_stay and title is not None
                    yield self._done(step.command or step.printed[0], partial(terminal.do, step, stays=stays))
            elif title:
                (self._directory / title).write_text(content)

    def _done(self, name: str, work: Callable[[], None]) -> tuple[str, float]:
        began = time.monotonic()
        try:
            work()
        except Wrong as wrong:
            # Read in place: commands that still run write at the same position.
            errors = os.pread(self._errors.fileno(), 1 << 20, 0).decode(errors="replace").splitlines()[-30:]
            raise Wrong("\n".join([f"{name}: {wrong}", *(["stderr ends:", *errors] if errors else [])])) from None
        return name, time.monotonic() - began


def _open(link: str) -> None:
    try:
        with urllib.request.urlopen(link, timeout=STEP_S) as answer:
            if b"<html" not in answer.read():
                raise Wrong("no page is there")
    except OSError as error:
        raise Wrong(str(error)) from None


def _out(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout is not None
    return process.stdout


def _with_free_ports(text: str) -> str:
    """Return the page with ports that nobody has, the same wherever it has the same."""
    held: dict[str, socket.socket] = {}
    for port in dict.fromkeys(_ADDRESS.findall(text)):
        held[port] = socket.create_server(("127.0.0.1", 0))
    moved = _ADDRESS.sub(lambda found: f"127.0.0.1:{held[found[1]].getsockname()[1]}", text)
    for each in held.values():
        each.close()
    return moved


def environment_of(scratch: Path, wheel: Path | None) -> dict[str, str]:
    """Return the environment of a reader: this interpreter's programs first, and with a wheel what pip takes it for."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "KAFKA_", "COORDINATOR_"))}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    if wheel is not None:
        pins = dict(_PIN.findall((ROOT / "requirements" / "dev.lock").read_text()))
        pins["coordinator-server"] = wheel.name.split("-")[1]
        constraints = scratch / "constraints.txt"
        constraints.write_text("".join(f"{name}=={version}\n" for name, version in pins.items()))
        given = {
            "FIND_LINKS": wheel.resolve().parent,
            "CONSTRAINT": constraints,
            "DISABLE_PIP_VERSION_CHECK": 1,
            "NO_COMPILE": 1,
            "QUIET": 1,
        }
        environment |= {f"PIP_{name}": str(value) for name, value in given.items()}
    return environment


def main(argv: list[str] | None = None) -> int:
    """Play, and print each step with its time."""
    parser = argparse.ArgumentParser(prog="scripts/play_page.py", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("page", type=Path, help="a page of the documentation")
    parser.add_argument("--wheel", type=Path, help="what the page installs as coordinator-server")
    parser.add_argument("--within", type=float, default=300, metavar="SECONDS", help="how long it may take (%(default)s)")
    options = parser.parse_args(argv)
    # Whoever is ended ends what the page has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="page-") as name:
        scratch = Path(name)
        directory = scratch / "reader"
        directory.mkdir()
        try:
            with Player(directory, environment_of(scratch, options.wheel)) as player:
                for step, seconds in player.play(options.page.read_text()):
                    print(f"{seconds:6.1f} s  {step}", flush=True)
        except Wrong as wrong:
            print(f"{options.page}: {wrong}", file=sys.stderr)
            return 1
    took = time.monotonic() - began
    print(f"{took:6.1f} s  {options.page}", flush=True)
    if took > options.within:
        print(f"{options.page}: took longer than {options.within:.0f} s", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
