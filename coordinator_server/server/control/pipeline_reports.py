"""What compaction and the other jobs have done, for tools and metrics: the operations ``pipeline`` and ``pipeline-report``.

    {"op": "pipeline-report", "by": "schedule", "report": {…}}      a schedule (cli/schedule.py) reports its jobs
    {"op": "pipeline"}
    {"ok": true, "pipeline": {"cleaner": {…}, "schedule": {…}}}

A report replaces the one before it, so each has everything since its sender began. The server's own cleaner has one, too. Reports
are kept in memory: after a restart of the server a schedule's next report fills its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from coordinator_server.server.hosting.cleaner import CleanerReport
from coordinator_server.server.local_operation import Operation, Refusal

CLEANER: Final = "cleaner"
# The longest has a few verdicts of shards that differ.
MAX_BYTES: Final = 1 << 18
MAX_SENDERS: Final = 16


class PipelineReports:
    """The newest report of each sender."""

    def __init__(self, cleaner: CleanerReport) -> None:
        self._cleaner = cleaner
        self._reports: dict[str, Mapping[str, Any]] = {}

    @property
    def operations(self) -> dict[str, Operation]:
        """The operations of ``control.sock``."""
        return {"pipeline": self._answer, "pipeline-report": self._accept}

    async def _answer(self, _request: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"pipeline": {CLEANER: msgspec.to_builtins(self._cleaner), **self._reports}}

    async def _accept(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        by, report = request.get("by"), request.get("report")
        if not isinstance(by, str) or by == CLEANER or not isinstance(report, dict):
            raise Refusal('a report needs the words "by", who sends it, and "report", an object')
        if len(msgspec.json.encode(report)) > MAX_BYTES or len(by) > MAX_BYTES:
            raise Refusal(f"a report has at most {MAX_BYTES} bytes")
        if by not in self._reports and len(self._reports) >= MAX_SENDERS:
            raise Refusal(f"{MAX_SENDERS} senders have reports here already")
        self._reports[by] = report
        return {}
