"""Read every file of a data directory. Report all damage: where it is, what it means and what to do.

The server may run or not. The command changes nothing. Exit code 0: no damage. 1: damage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from coordinator_server.cli.answers import add_json_arguments
from coordinator_server.cli.data_dir_owner import give_to_owner
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.output import complain, counted, say, say_json
from coordinator_server.cli.process_settings import create_private_files
from coordinator_server.log.repair.check import check
from coordinator_server.log.repair.findings import Finding, Progress, Report
from coordinator_server.log.repair.salvage import Salvaged, salvage

EPILOG = """\
examples:
  coordinator-server log verify --data-dir ./data
  coordinator-server log verify --data-dir ./data -o json | jq '.damage[].path'
  coordinator-server log verify --data-dir ./data --salvage ./saved     # then: serve --data-dir ./saved

--salvage: stop the server first. It does not change the damaged directory. It writes every batch without damage to a new directory,
on which a server starts, and lists the missing offsets of each shard. If only history is damaged, a layer has the state: the server
starts on the damaged directory, too.
"""

_SHOW_EVERY = 1 << 24


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    verify = actions.add_parser(
        "verify",
        help="read and check everything",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verify.add_argument("--data-dir", type=local_dir, required=True, metavar="DIR", help="the server's data directory")
    verify.add_argument(
        "--salvage", type=local_dir, metavar="OUT", help="write all that is not damaged to the new data directory OUT"
    )
    add_json_arguments(verify)


def run(options: argparse.Namespace) -> int:
    """Check, salvage if requested, and return the exit code."""
    create_private_files()
    try:
        report = check(str(options.data_dir), show_progress())
        saved = _salvage(options.data_dir, options.salvage) if options.salvage else None
    except OSError as error:
        return complain(error, 1)
    if options.json:
        say_json(_as_json(report, saved))
    else:
        say([*_as_text(report), *(_saved(options.salvage, saved) if saved else ())])
    return 1 if report.damage else 0


def _salvage(data_dir: Path, out: Path) -> Salvaged:
    try:
        return salvage(str(data_dir), str(out))
    finally:
        give_to_owner(out, data_dir)


def _as_text(report: Report) -> Iterator[str]:
    for note in report.notes:
        yield f"note: {note.path}: {note.what}"
    for finding in report.damage:
        yield f"damage: {finding.path} at byte {finding.position}: {finding.why}; {finding.means}; {finding.action}"
    beside = ", while a server runs" if report.is_served else ""
    verdict = counted(len(report.damage), "damaged place") if report.damage else "all is whole"
    counts = (report.files, "file"), (report.bytes, "byte"), (report.batches, "batch"), (report.records, "record")
    yield f"{verdict}: {', '.join(counted(*each) for each in counts)}{beside}"


def _saved(out: Path, saved: Salvaged) -> Iterator[str]:
    for hole in saved.holes:
        only = " (of the history only: a layer has the state)" if hole.is_history else ""
        yield f"missing: {hole.shard}, offsets {hole.begin} to {hole.end - 1}{only}"
    for frame in saved.lost_frames:
        yield f"missing: records in the journal from {frame}"
    for path, position in saved.mended:
        yield f"repaired: {path} at byte {position}: only the offset or the magic of the batch was damaged"
    missing = sum(hole.end - hole.begin for hole in saved.holes)
    counts = (saved.shards, "shard"), (saved.batches, "batch"), (saved.bytes, "byte")
    yield f"saved to {out}: {', '.join(counted(*each) for each in counts)}; missing: {counted(missing, 'offset')}"


def _as_json(report: Report, saved: Salvaged | None) -> dict[str, object]:
    whole: dict[str, object] = msgspec.to_builtins(report) | {"damage": [_finding(finding) for finding in report.damage]}
    if saved is not None:
        whole["salvaged"] = msgspec.to_builtins(saved)
    return whole


def _finding(finding: Finding) -> dict[str, object]:
    return msgspec.structs.asdict(finding) | {"means": finding.means, "action": finding.action}


def show_progress() -> Progress:
    """Return what shows the progress of a check on one line of a terminal."""
    if not sys.stderr.isatty():
        return lambda _done, _all: None
    shown = 0

    def show(done: int, of: int) -> None:
        nonlocal shown
        if done - shown >= _SHOW_EVERY or done >= of:
            shown = done
            end = "\n" if done >= of else ""
            sys.stderr.write(f"\rread {done >> 20} of {of >> 20} MiB{end}")
            sys.stderr.flush()

    return show
