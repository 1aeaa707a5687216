"""Look for what is wrong with running servers, their data directory and their machine, and say what to do.

It asks the servers at --bootstrap: whether each answers, which groups do not settle and who holds them up,
which transactions should have ended. With --data-dir it looks at that directory, too: permissions, room on
the disk, the clock, limits of open files, certificates, what the server counts, and damage; of a node with a
store at the database, its standbys and old snapshots, the other nodes, and shards without an owner. Without
--bootstrap it then asks the server that runs on the directory. It changes nothing.

Exit code 0: no problem; there may be warnings and notes. 1: a problem.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from coordinator_server.cli.answers import Answer, print_answer
from coordinator_server.cli.cluster_command import add_cluster_arguments, seconds
from coordinator_server.cli.diagnosis.finding import NOTE, OK, PROBLEM, WARNING, Finding, worst_first
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.output import counted

if TYPE_CHECKING:
    from coordinator_server.client.settings import ConnectionSettings
    from coordinator_server.group.holdup import Holdup

EPILOG = """\
examples:
  coordinator-server doctor
  coordinator-server doctor --data-dir ./data                        # the directory, and the server that runs on it
  coordinator-server doctor --data-dir ./data --offline --full       # of a server that does not run
  coordinator-server doctor -o json | jq '.[] | select(.severity == "problem")'
"""
# Members of the newer protocols send a heartbeat each five seconds, and need two of them to give up a partition and to take one.
_WATCH_S: Final = 12.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--data-dir", type=local_dir, metavar="DIR", help="the server's data directory, on this machine")
    parser.add_argument("--offline", action="store_true", help="ask no server at --bootstrap")
    parser.add_argument("--full", action="store_true", help="read the whole log for damage, however large it is")
    parser.add_argument(
        "--watch",
        type=seconds,
        default=_WATCH_S,
        metavar="SECONDS",
        help="a group that stands still for so long is stuck (%(default)g)",
    )
    parser.add_argument("--all", action="store_true", help="also print what is in order")
    add_cluster_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print the findings, the worst first, and return the exit code. Raises ConfigError."""
    findings = [_placed(each, options) for each in worst_first([*_of_directory(options), *_of_cluster(options)])]
    shown = [each for each in findings if options.all or each.severity != OK]
    rows = [each._asdict() for each in shown]
    answer = Answer(rows, text=_lines(shown, findings), failed=any(each.severity == PROBLEM for each in findings))
    return print_answer(options.output, answer)


def _of_directory(options: argparse.Namespace) -> Iterator[Finding]:
    if options.data_dir is None:
        return
    from coordinator_server.cli.diagnosis.directory import check_directory
    from coordinator_server.cli.files.log import show_progress

    yield from check_directory(options.data_dir, is_full=options.full, progress=show_progress())


def _of_cluster(options: argparse.Namespace) -> list[Finding]:
    if options.offline:
        return []
    from coordinator_server.cli.client_properties import NoListener, connection_settings
    from coordinator_server.cli.diagnosis.directory import own_listeners
    from coordinator_server.client.errors import ClientError

    own = None if options.data_dir is None else own_listeners(options.data_dir)
    try:
        settings = connection_settings(options.bootstrap, options.command_config, options.timeout, own)
    except NoListener as none:
        if not own:
            # No server runs on the directory, or none that answers: which, is a finding of its own.
            return []
        action = "--command-config with the properties of a client lets it be asked about groups and transactions"
        return [Finding(NOTE, "servers", f"it was not asked as a client: {none}, but {', '.join(own)}", action)]
    try:
        return asyncio.run(_examined(settings, options))
    except ClientError as error:
        action = "start the server, or name its address with --bootstrap; --offline looks at --data-dir only"
        return [Finding(PROBLEM, "servers", str(error), action)]


async def _examined(settings: ConnectionSettings, options: argparse.Namespace) -> list[Finding]:
    from coordinator_server.cli.diagnosis.cluster import check_cluster, nobody_known
    from coordinator_server.client.admin.cluster import Cluster

    async with Cluster(settings) as cluster:
        # The server of the directory knows more than it says to clients; one that --bootstrap names may be another.
        is_own = options.data_dir is not None and options.bootstrap is None
        return await check_cluster(cluster, options.watch, partial(_late, options.data_dir) if is_own else nobody_known)


def _late(data_dir: Path, group_ids: Sequence[str]) -> Sequence[Holdup]:
    """Ask the server that runs on a directory what groups wait for; nothing if it does not say."""
    from coordinator_server.cli.group_waiting import holdups
    from coordinator_server.pipeline.errors import PipelineError

    try:
        return holdups(data_dir, group_ids) or ()
    except (PipelineError, OSError):
        return ()


def _placed(finding: Finding, options: argparse.Namespace) -> Finding:
    """Name the directory in the advice, if it is known."""
    if finding.action is None or options.data_dir is None:
        return finding
    return finding._replace(action=finding.action.replace("--data-dir DIR", f"--data-dir {options.data_dir}"))


def _lines(shown: Sequence[Finding], findings: Sequence[Finding]) -> Iterator[str]:
    for each in shown:
        yield f"{each.severity}: {each.check}: {each.what}" + (f"; {each.action}" if each.action else "")
    problems, warnings = (sum(each.severity == severity for each in findings) for severity in (PROBLEM, WARNING))
    yield f"{counted(problems, 'problem')}, {counted(warnings, 'warning')} in {counted(len(findings), 'finding')}"
