"""What ``share`` prints: tables of share partitions, what is stuck, and one sentence for each change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from coordinator_server.cli.output import counted
from coordinator_server.cli.table import columns
from coordinator_server.cli.times import shown
from coordinator_server.pipeline.replay.share_timeline import SettledBatch, ShareEvent, SharePartitionAt, UnsettledBatch
from coordinator_server.pipeline.states.share_steps import ACKNOWLEDGED, ACQUIRED, ARCHIVED, ARCHIVING, AVAILABLE, ShareStepKind
from coordinator_server.share.state_batches import NO_START_OFFSET

MOST_STUCK: Final = 20
MOST_BATCHES: Final = 6
_HEADING: Final = ("topic", "partition", "start", "in flight", "acknowledged", "rejected", "most deliveries", "changed")
_BECAME: Final = {
    AVAILABLE: "came back after delivery {deliveries}",
    ACQUIRED: "in delivery {deliveries}",
    ACKNOWLEDGED: "acknowledged after delivery {deliveries}",
    ARCHIVING: "being rejected after delivery {deliveries}",
    ARCHIVED: "rejected after delivery {deliveries}",
}
_WHAT: Final = {
    ShareStepKind.INITIALIZED.value: "initialized",
    ShareStepKind.WRITTEN.value: "",
    ShareStepKind.DELETED.value: "deleted",
    ShareStepKind.KEPT.value: "known from the compacted log, which keeps the last state",
}


def partitions_text(group_id: str, found: Sequence[SharePartitionAt]) -> Iterator[str]:
    """Return the lines of all share partitions, then of what is not settled, the most deliveries first."""
    yield f"group {group_id}: {counted(len(found), 'share partition')}"
    yield from columns([_HEADING, *(_row(each) for each in found)])
    stuck = sorted(
        ((each, batch) for each in found for batch in each.unsettled),
        key=lambda item: (-item[1].deliveries, item[1].since_ms),
    )
    if not stuck:
        yield "no delivery is unsettled"
        return
    yield "delivered, and neither acknowledged nor rejected:"
    for each, batch in stuck[:MOST_STUCK]:
        yield f"  {_name(each)}: {_stuck_text(batch)}"
    if len(stuck) > MOST_STUCK:
        yield f"  and {counted(len(stuck) - MOST_STUCK, 'batch')} more: --json has all"


def event_line(event: ShareEvent) -> str:
    """Return the line of a change."""
    parts = [_WHAT[event.what]] if _WHAT[event.what] else []
    if event.start_offset not in (None, NO_START_OFFSET):
        parts.append(f"starts at offset {event.start_offset}")
    if event.state_epoch is not None:
        parts.append(f"state epoch {event.state_epoch}")
    if event.leader_epoch is not None and event.leader_epoch >= 0:
        parts.append(f"leader epoch {event.leader_epoch}")
    parts += map(_batch_text, event.batches[:MOST_BATCHES])
    if len(event.batches) > MOST_BATCHES:
        parts.append(f"and {counted(len(event.batches) - MOST_BATCHES, 'batch')} more")
    by = f" ({event.by})" if event.by is not None else ""
    return f"{shown(event.at_ms)}  {_name(event)}: {'; '.join(parts) or 'nothing new'}{by}"


def _name(each: SharePartitionAt | ShareEvent) -> str:
    return f"{each.topic or each.topic_id}-{each.partition}"


def _row(each: SharePartitionAt) -> tuple[str, ...]:
    start = "-" if each.start_offset == NO_START_OFFSET else str(each.start_offset)
    most = max((batch.deliveries for batch in each.unsettled), default=0)
    counts = (str(each.in_flight), str(each.acknowledged), str(each.archived), str(most))
    return each.topic or each.topic_id, str(each.partition), start, *counts, shown(each.changed_ms)


def _stuck_text(batch: UnsettledBatch) -> str:
    since = f"since {shown(batch.since_ms)}" + (" or earlier" if batch.is_earlier else "")
    last = f", the last time at {shown(batch.last_ms)}" if batch.last_ms != batch.since_ms else ""
    return f"{_offsets(batch)} delivered {counted(batch.deliveries, 'time')}{last}; unsettled {since}"


def _batch_text(batch: SettledBatch) -> str:
    became = _BECAME.get(batch.state, f"{batch.state} after delivery {{deliveries}}")
    return f"{_offsets(batch)} {became.format(deliveries=batch.deliveries)}"


def _offsets(batch: UnsettledBatch | SettledBatch) -> str:
    first, last = batch.first_offset, batch.last_offset
    return str(first) if first == last else f"{first}-{last}"
