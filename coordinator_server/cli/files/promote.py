"""Make a server of what follows a cluster: the directory of "observe" becomes a server's, and consumers go on there.

The groups keep generations, members, assignments and offsets, share groups their deliveries; topics and the cluster keep their ids.
Producer ids begin far above all that were seen. An open transaction is aborted, and its producer fenced. The history stays.
Without --execute, the command says what it would bring.
"""

from __future__ import annotations

import argparse
import sys

from coordinator_server.cli.answers import Answer, Row, add_execute_argument, add_output_argument, print_answer
from coordinator_server.cli.data_dir_owner import give_to_owner
from coordinator_server.cli.files.import_kafka import overrides
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.observed_directory import is_observed
from coordinator_server.cli.output import complain, counted
from coordinator_server.cli.process_settings import create_private_files
from coordinator_server.config import Config
from coordinator_server.log.errors import LogError
from coordinator_server.log.opening import identity_of
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.files.kafka.importer import ImportResult
from coordinator_server.pipeline.files.kafka.promoter import promote
from coordinator_server.pipeline.input.data_dir import check_data_dir
from coordinator_server.pipeline.progress import progress_on
from coordinator_server.pipeline.replay.shard_states import replay

EPILOG = """\
examples:
  coordinator-server promote --data-dir ./observed                # what it would bring, and who is still a member
  coordinator-server promote --data-dir ./observed --execute

before: stop the consumers of the cluster, then "observe" with SIGTERM, and read the rest: observe --once. Groups that still
have members are refused: --yes goes on with them, as after "import"; their sessions begin at the server's start.

not brought: users, ACLs, quotas and settings, which no internal topic has. Make them with "users", "acls", "quotas", "configs".

after: the last line says how to start the server. The cluster must not serve these groups any more. The way back is "export".

exit codes: 0 done, or shown; 1 the directory is followed or damaged, or groups have members; 2 it follows no cluster
"""
_NOT_BROUGHT = "not brought: users, ACLs, quotas, settings of topics and groups"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--data-dir", type=local_dir, required=True, metavar="DIR", help="the directory that observe has made")
    parser.add_argument("--yes", action="store_true", help="also if groups have members")
    add_execute_argument(parser)
    add_output_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Promote, or show what that would bring, and return the exit code. Raises LogError."""
    create_private_files()
    try:
        check_data_dir(options.data_dir)
        if not is_observed(options.data_dir):
            raise CannotRun(f"{options.data_dir} does not follow a cluster: it is a server's directory already")
        rows, busy = _groups(options)
        if busy and options.execute and not options.yes:
            what = f"{counted(len(busy), 'group')} {'has' if len(busy) == 1 else 'have'} members ({', '.join(busy[:5])})"
            raise PipelineError(f"{what}: stop the consumers, then read the rest with observe --once; or --yes")
        notes = [_NOT_BROUGHT]
        if options.execute:
            notes += _done(_promoted(options))
        else:
            cluster_id = identity_of(options.data_dir).cluster_id
            notes.append(f"nothing was changed: --execute makes a server of the cluster {cluster_id} of it")
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, LogError, OSError) as error:
        return complain(error, 1)
    return print_answer(options.output, Answer(rows, empty="there are no groups", notes=notes))


def _groups(options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Return a row for each group, and the groups that have members."""
    groups = [group for state in replay(options.data_dir) for group in state.groups]
    rows: list[Row] = [
        {"group": each.group_id, "type": each.type, "members": len(each.members), "offsets": len(each.offsets)}
        for each in sorted(groups, key=lambda each: each.group_id)
    ]
    return rows, sorted(each.group_id for each in groups if each.members)


def _promoted(options: argparse.Namespace) -> ImportResult:
    try:
        return promote(options.data_dir, progress_on(sys.stderr))
    finally:
        give_to_owner(options.data_dir, options.data_dir)


def _done(result: ImportResult) -> list[str]:
    return [
        *result.notes,
        f"producer ids begin at {result.next_producer_id:,}",
        f"start it: coordinator-server serve --data-dir {result.data_dir}{overrides(result, Config().node_id)}",
    ]
