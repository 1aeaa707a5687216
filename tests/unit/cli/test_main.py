"""The command line: what it prints, and its exit codes."""

from __future__ import annotations

import errno
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from coordinator_server.cli import COMMANDS, main
from coordinator_server.cli.output import complain
from coordinator_server.cli.serve import parse_address
from coordinator_server.config import ConfigError


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])

    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in COMMANDS)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])

    module = import_module(f"coordinator_server.cli.{COMMANDS[command][0]}")
    printed = capsys.readouterr().out
    assert ended.value.code == 0
    assert f"coordinator-server {command}" in printed
    # As they are written, line by line.
    assert (module.__doc__ or "").strip() in printed
    assert module.EPILOG.strip() in printed


@pytest.mark.parametrize("words", [[], ["sing"], ["serve", "--data-dir", "x", "--log-level", "loud"]])
def test_a_wrong_command_line_is_exit_code_2(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--override", "num.partition=3"], "did you mean num.partitions?"),
        (
            ["--override", "num.partitions=none"],
            "num.partitions takes a whole number of partitions from 1 to 2147483647, not 'none'",
        ),
        (["--listen", "9092"], "--listen takes HOST:PORT"),
        (["--override", "advertised.listeners=nowhere"], "advertised.listeners=nowhere: "),
        (["--loops", "0"], "loops takes a whole number of loops from 1 to 64, or auto, not '0'"),
        (["--loops", "many"], "loops takes a whole number of loops from 1 to 64, or auto, not 'many'"),
        (["--loops", "51"], "loops=51: offsets.topic.num.partitions=50 has fewer shards than loops"),
        (
            ["--loops", "3", "--override", "advertised.listeners=x:65534"],
            "3 loops need ports up to 65536, and 65535 is the last one",
        ),
        (["--override", "topics=a:b"], "'a:b' is not name or name:partitions"),
    ],
)
def test_a_wrong_setting_is_one_line_and_exit_code_2(
    words: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--data-dir", str(tmp_path / "data"), *words]) == 2

    complaint = capsys.readouterr().err.strip().splitlines()[-1]
    assert complaint.startswith("coordinator-server: ")
    assert says in complaint
    assert not (tmp_path / "data" / "journal").exists()


@pytest.mark.parametrize(
    ("text", "expected"), [("127.0.0.1:9092", ("127.0.0.1", 9092)), ("[::1]:0", ("::1", 0)), (":9092", ("", 9092))]
)
def test_an_address_is_host_and_port(text: str, expected: tuple[str, int]) -> None:
    assert parse_address(text) == expected


@pytest.mark.parametrize("text", ["", "localhost", "localhost:", "localhost:http", "localhost:65536"])
def test_a_text_that_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_address(text)


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    program = [sys.executable, "-m", "coordinator_server", "config"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""

    assert process.returncode == 0


@pytest.mark.parametrize(
    ("words", "command", "says"),
    [
        (["grups", "list"], "coordinator-server", "; did you mean groups?"),
        (["groups", "lst"], "coordinator-server groups", "; did you mean list?"),
        (
            ["serve", "--dat-dir", "x"],
            "coordinator-server serve",
            "unrecognized arguments: --dat-dir x; did you mean --data-dir?",
        ),
        (["serve", "--datadir=x"], "coordinator-server serve", "; did you mean --data-dir?"),
        (["groups", "list", "--zzz"], "coordinator-server groups list", "unrecognized arguments: --zzz"),
        (["groups", "list", "extra"], "coordinator-server groups list", "unrecognized arguments: extra"),
    ],
)
def test_a_wrong_word_is_explained_by_its_command(
    words: list[str], command: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        main(words)

    usage, *_, complaint = capsys.readouterr().err.splitlines()
    assert usage.startswith(f"usage: {command} [")
    assert complaint.startswith(f"{command}: error: ")
    assert complaint.endswith(says)


def test_a_full_disk_is_a_failure_that_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert complain(OSError(errno.ENOSPC, "No space left on device"), 1) == 1

    assert "free some space where this command writes" in capsys.readouterr().err
