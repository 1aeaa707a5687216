"""The commits that a running server has refused, as it reports them on ``control.sock``: they are not in the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coordinator_server.cli.output import counted, note
from coordinator_server.kinds import GROUPS
from coordinator_server.log.opening import identity_of
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.input.data_dir import ask_server
from coordinator_server.pipeline.input.owners import owner_of
from coordinator_server.pipeline.replay.group_events import REFUSED, Event
from coordinator_server.pipeline.states.changes import Change


def refused_commits(data_dir: Path, group_id: str) -> list[Event]:
    """Return the last commits of a group that the server on a directory has refused, and say on stderr how many there were.

    None of a cluster that is followed: it does not say which commits it refuses.
    """
    identity = identity_of(data_dir)
    if identity.is_observed:
        return []
    request = {"op": "refused-commits", "groups": [group_id], "shards": [owner_of(identity, GROUPS.topic, group_id)]}
    try:
        answer = ask_server(data_dir, request)
    except PipelineError as error:
        note(f"refused commits are not shown: {error}")
        return []
    found: Sequence[Mapping[str, Any]] = () if answer is None else answer["refused_commits"]
    events = []
    for group in found:
        errors: Mapping[str, int] = group["errors"]
        by_error = ", ".join(f"{count:,} {error}" for error, count in errors.items())
        note(f"since its start the server has refused {counted(sum(errors.values()), 'commit')} of this group: {by_error}")
        events += [_event(each) for each in group["last"]]
    return events


def _event(each: Mapping[str, Any]) -> Event:
    by = Change(
        -1,
        each["at_ms"],
        each["operation"],
        client_id=each["client_id"],
        client_host=each["client_host"],
        member_id=each["member_id"],
        group_instance_id=each["group_instance_id"],
    )
    return Event(each["at_ms"], REFUSED, epoch=each["epoch"], error=each["error"], by=by)
