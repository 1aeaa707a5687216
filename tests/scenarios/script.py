"""Plays the input lines of a transcript on a GroupShard, and puts what happens into words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coordinator_server.config import Config
from coordinator_server.config.load import load
from coordinator_server.group.describe import GroupFilter
from coordinator_server.group.fetch import LatestFetch
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import Provenance
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from tests.scenarios.player import (
    COMMIT,
    DELETE,
    FETCH,
    FORGET,
    HEARTBEAT,
    JOIN,
    LEAVE,
    SYNC,
    Api,
    Client,
    Player,
    Words,
    words_of,
)
from tests.scenarios.wording import text_of_fetch, text_of_group, text_of_provenance, text_of_record
from tests.support.group import FakeReply, GroupLog, Operation

_OPERATIONS: dict[Api, Operation] = {
    JOIN: GroupShard.join_group,
    SYNC: GroupShard.sync_group,
    HEARTBEAT: GroupShard.heartbeat,
    LEAVE: GroupShard.leave_group,
    COMMIT: GroupShard.commit_offsets,
    FETCH: GroupShard.fetch_latest_offsets,
    DELETE: GroupShard.delete_groups,
    FORGET: GroupShard.delete_offsets,
}


class Script(Player):
    """One shard, its clients, and the lines that came of the last input."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self._log = GroupLog(config, self._on_record)
        self._lines: list[str] = []
        self._time = ""
        self._is_telling_why = False

    def play(self, line: str) -> list[str]:
        """Do what the line says; the lines that tell what came of it."""
        self._lines = []
        first, plain, words = words_of(line)
        if first in {"wait", "jump", "hold", "flush", "release", "fail", "restart", "unload", "why"}:
            self._control(first, plain, words)
        elif first == "describe":
            self._describe(plain[0])
        elif first == "list":
            self._list(words)
        elif first == "expiring":
            self._expiring(plain[0])
        else:
            self.request(first, plain, words)
        self._log.advance(0)
        assert self._log.hard_state() == self._log.replayed_state()
        return self._lines

    def _control(self, what: str, plain: list[str], words: Words) -> None:
        log = self._log
        if what == "wait":
            log.advance(int(plain[0]), self._on_time)
            self._time = ""
        elif what == "jump":
            log.clock.jump_wall(int(plain[0]))
        elif what == "fail":
            log.fail(ErrorCode[plain[0]] if plain else ErrorCode.NOT_COORDINATOR)
        elif what == "restart":
            log.config = load({"group.initial.rebalance.delay.ms": "0", **words})
            log.restart()
        elif what == "unload":
            log.shard.on_unloaded()
        elif what == "why":
            self._is_telling_why = True
        else:
            log.is_holding = what != "release" and (what == "hold" or log.is_holding)
            if what != "hold":
                log.flush()

    def _on_time(self, ms: int) -> None:
        self._time = f"+{ms} "

    def _say(self, line: str) -> None:
        self._lines.append((self._time + line).rstrip())

    def _send(self, client: Client, api: Api, request: Any, words: Words, tell: Callable[[Any], str]) -> None:
        def on_answer(reply: FakeReply) -> None:
            what = reply.error.name if reply.error is not None else tell(reply.response)
            self._say(f"{client.name} {api.name} {what}")

        version = int(words.get("v", api.newest))
        self._log.run(_OPERATIONS[api], request, version=version, client_id=client.name, on_answer=on_answer)

    def _fetch(self, client: Client, request: OffsetFetchRequestGroup, words: Words) -> None:
        if "stable" in words:
            latest = LatestFetch(request, require_stable=True)
            self._send(client, FETCH, latest, words, lambda moment: text_of_fetch(moment.answer()))
        else:
            answer = self._log.shard.fetch_offsets(self._log.committed_offset, request).answer()
            self._say(f"{client.name} fetch {text_of_fetch(answer)}")

    def _on_record(self, offset: int, record: CoordinatorRecord, provenance: Provenance | None) -> None:
        self._say(f"log @{offset} {text_of_record(record)}")
        if self._is_telling_why and provenance is not None:
            self._say(f"why @{offset} {text_of_provenance(provenance)}")

    def _expiring(self, group_id: str) -> None:
        now = self._log.clock.wall_ms()
        rows = self._log.shard.expiring(self._log.committed_offset, group_id)
        self._say("expiring " + " ".join(f"{row.topic}:{row.partition}:+{(row.at_ms - now) // 60_000}min" for row in rows))

    def _describe(self, group_id: str) -> None:
        try:
            group = self._log.shard.describe_group(self._log.committed_offset, group_id)
        except CoordinatorError as refused:
            self._say(f"describe {refused}")
            return
        self._say(f"describe {text_of_group(group)}")

    def _list(self, words: Words) -> None:
        states, types = ([part for part in words.get(key, "").split(",") if part] for key in ("states", "types"))
        groups = self._log.shard.list_groups(self._log.committed_offset, GroupFilter.of(states, types))
        rows = sorted(f"{row.group_id}:{row.group_state}:{row.group_type}:{row.protocol_type}" for row in groups)
        self._say(f"list [{' '.join(rows)}]")
