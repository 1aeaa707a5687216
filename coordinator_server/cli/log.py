"""Read every file of a data directory and say what is damaged, where, what that means and what to do.

Works beside a running server and without one, and changes nothing. Exit code 0: all is whole. 1: something is damaged.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from coordinator_server.cli.complaint import complain
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.log.repair.check import check
from coordinator_server.log.repair.findings import Finding, Progress, Report
from coordinator_server.log.repair.salvage import Salvaged, salvage

EPILOG = """\
examples:
  coordinator-server log verify --data-dir ./data
  coordinator-server log verify --data-dir ./data --json | jq '.damage[].path'
  coordinator-server log verify --data-dir ./data --salvage ./saved     # then: serve --data-dir ./saved

--salvage needs the server to be stopped. It leaves the damaged directory as it is, and writes a new one that starts, with every batch
that is whole; what is missing is listed, by shard and offset.
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
    verify.add_argument("--salvage", type=Path, metavar="OUT", help="write all that is whole to the new data directory OUT")
    verify.add_argument("--json", action="store_true", help="print the result as JSON")


def run(options: argparse.Namespace) -> int:
    """Check, and salvage if asked to; returns the exit code."""
    try:
        report = check(str(options.data_dir), _progress())
        saved = salvage(str(options.data_dir), str(options.salvage)) if options.salvage else None
    except OSError as error:
        return complain(error, 1)
    if options.json:
        print(_as_json(report, saved))
    else:
        for line in [*_as_text(report), *(_saved(options.salvage, saved) if saved else ())]:
            print(line)
    return 1 if report.damage else 0


def _as_text(report: Report) -> Iterator[str]:
    for note in report.notes:
        yield f"note: {note.path}: {note.what}"
    for finding in report.damage:
        yield f"damage: {finding.path} at byte {finding.position}: {finding.why}; {finding.means}; {finding.action}"
    beside = ", beside a running server" if report.is_served else ""
    verdict = f"{len(report.damage)} damaged places" if report.damage else "all is whole"
    yield f"{verdict}: {report.files} files, {report.bytes:,} bytes, {report.batches:,} batches, {report.records:,} records{beside}"


def _saved(out: Path, saved: Salvaged) -> Iterator[str]:
    for hole in saved.holes:
        yield f"missing: {hole.shard}, offsets {hole.begin} to {hole.end - 1}"
    for frame in saved.lost_frames:
        yield f"missing: what was in the journal from {frame}"
    for path, position in saved.mended:
        yield f"mended: {path} at byte {position}: only the offset or the magic of the batch was damaged"
    missing = sum(hole.end - hole.begin for hole in saved.holes)
    yield f"saved to {out}: {saved.shards} shards, {saved.batches:,} batches, {saved.bytes:,} bytes; {missing:,} offsets are missing"


def _as_json(report: Report, saved: Salvaged | None) -> str:
    whole = msgspec.to_builtins(report) | {"damage": [_finding(finding) for finding in report.damage]}
    if saved is not None:
        whole["salvaged"] = msgspec.to_builtins(saved)
    return msgspec.json.encode(whole).decode()


def _finding(finding: Finding) -> dict[str, object]:
    return msgspec.structs.asdict(finding) | {"means": finding.means, "action": finding.action}


def _progress() -> Progress:
    """On a terminal, how much was read, on one line."""
    if not sys.stderr.isatty():
        return lambda _done, _all: None
    shown = 0

    def show(done: int, of: int) -> None:
        nonlocal shown
        if done - shown >= _SHOW_EVERY or done >= of:
            shown = done
            end = "\n" if done >= of else ""
            print(f"\rread {done >> 20} of {of >> 20} MiB", end=end, file=sys.stderr, flush=True)

    return show
