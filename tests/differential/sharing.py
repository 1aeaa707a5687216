"""What members of share groups (KIP-932) ask, and what administrators ask of such groups: verbs of scripts.

> A shares g topics=t+u rack=r epoch=3 member=B     ShareGroupHeartbeat: the first one joins with epoch 0, the later ones have the
                                                    epoch of the last answer
> A unshares g                                      … with epoch -1
> A acquires g t:0 0..4:1 u:0 forget=t:1 epoch=0    ShareFetch, with acknowledgements (first..last:types) of the partition before
                                                    them
> A acknowledges g t:0 0..4:1+2 epoch=1             ShareAcknowledge
> sharers g h                                       ShareGroupDescribe; ``sharers g ops`` with authorized operations
> starts g t:0 t:1                                  DescribeShareGroupOffsets; of all topics without positions; ``also=h`` asks
                                                    the same of more groups
> move g t:0:5                                      AlterShareGroupOffsets
> drop g t u                                        DeleteShareGroupOffsets
> until g shared=3                                  until the group has so many initialized share partitions, and none that is
                                                    being initialized

A member's id is the client's name. "-" stands for null, and nothing for an empty list or string. What a heartbeat does not name
is null, so "as before". The session epoch of a ShareFetch or ShareAcknowledge is that which follows the last answer; ``wait``,
``min``, ``max``, ``records``, ``batch``, ``mode`` and ``renew`` are its other fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages import alter_share_group_offsets as altering
from protocol.messages import delete_share_group_offsets as dropping
from protocol.messages import describe_share_group_offsets as starting
from protocol.messages import share_acknowledge as acknowledging
from protocol.messages import share_fetch as fetching
from protocol.messages.alter_share_group_offsets import AlterShareGroupOffsetsRequest
from protocol.messages.delete_share_group_offsets import DeleteShareGroupOffsetsRequest
from protocol.messages.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from protocol.messages.share_fetch import ShareFetchRequest
from protocol.messages.share_group_describe import ShareGroupDescribeRequest
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from tests.differential.script_requests import NOBODY
from tests.differential.share_states import ASKED as ASKED_BEFORE
from tests.differential.share_states import ShareStates
from tests.scenarios.player import Api, Client, Words

SHARE: Final = Api("share", 1)
ACQUIRE: Final = Api("acquire", 2)
ACKNOWLEDGE: Final = Api("acknowledge", 2)
SHARERS: Final = Api("sharers", 1)
STARTS: Final = Api("starts", 1)
MOVE: Final = Api("move", 0)
DROP: Final = Api("drop", 0)
# What has a coordinator initialize share partitions a moment later.
INITIALIZING: Final = {SHARE.name, MOVE.name}
JOINS: Final = 0
LEAVES: Final = -1
# After it the session epoch is 1 again.
_LAST_SESSION_EPOCH: Final = 2**31 - 1
_ACKNOWLEDGED: Final = re.compile(r"(-?\d+)\.\.(-?\d+):([-\d+]*)")
# How long a ShareFetch waits for records that never come.
_WAIT_MS: Final = "200"


class Sharer:
    """What a member of a share group remembers."""

    def __init__(self, name: str) -> None:
        self.member_id = name
        self.epoch = JOINS
        self.session_epoch = 0


class Sharing(ShareStates):
    """The members of a script's share groups on one server, and those who administer them."""

    def __init__(self, prefix: str, topic_ids: dict[str, bytes]) -> None:
        super().__init__(prefix, topic_ids)
        self._sharers: dict[tuple[str, str], Sharer] = {}

    def request(self, name: str, plain: list[str], words: Words) -> None:
        if plain[0] not in _REQUESTS:
            super().request(name, plain, words)
            return
        client = self.clients.setdefault(name, self._new_client(name))
        sharer = self._sharers.setdefault((name, plain[1]), Sharer(name))
        _REQUESTS[plain[0]](self, client, sharer, plain[1:], words)

    def share(self, client: Client, sharer: Sharer, plain: list[str], words: Words) -> None:
        request = ShareGroupHeartbeatRequest(
            plain[0],
            self._sharer_id(sharer, words),
            int(words.get("epoch", sharer.epoch)),
            _nullable(words.get("rack", "-")),
            self._names(words.get("topics", "-")),
        )

        def tell(response: ShareGroupHeartbeatResponse) -> str:
            if response.error_code == ErrorCode.NONE:
                sharer.epoch = max(response.member_epoch, JOINS)
            return ""

        self._send(client, SHARE, request, words, tell)

    def unshare(self, client: Client, sharer: Sharer, plain: list[str], words: Words) -> None:
        self.share(client, sharer, plain, {"epoch": str(LEAVES), **words})

    def acquire(self, client: Client, sharer: Sharer, plain: list[str], words: Words) -> None:
        def partition(index: int, batches: list[Any]) -> fetching.FetchPartition:
            return fetching.FetchPartition(
                index, acknowledgement_batches=[fetching.AcknowledgementBatch(*each) for each in batches]
            )

        forgotten = [
            fetching.ForgottenTopic(self._id_of(name), [int(index) for index in indexes])
            for name, indexes in _runs(words.get("forget", "").split("+"))
        ]
        request = ShareFetchRequest(
            None if plain[0] == "-" else plain[0],
            self._sharer_id(sharer, words),
            int(words.get("epoch", sharer.session_epoch)),
            int(words.get("wait", _WAIT_MS)),
            int(words.get("min", 1)),
            int(words.get("max", 1 << 20)),
            int(words.get("records", 500)),
            int(words.get("batch", 500)),
            int(words.get("mode", 0)),
            "renew" in words,
            [fetching.FetchTopic(self._id_of(name), parts) for name, parts in _acknowledged(plain[1:], partition)],
            forgotten,
        )
        self._send(client, ACQUIRE, request, words, _next_epoch(sharer, request))

    def acknowledge(self, client: Client, sharer: Sharer, plain: list[str], words: Words) -> None:
        def partition(index: int, batches: list[Any]) -> acknowledging.AcknowledgePartition:
            return acknowledging.AcknowledgePartition(index, [acknowledging.AcknowledgementBatch(*each) for each in batches])

        request = ShareAcknowledgeRequest(
            None if plain[0] == "-" else plain[0],
            self._sharer_id(sharer, words),
            int(words.get("epoch", sharer.session_epoch)),
            "renew" in words,
            [acknowledging.AcknowledgeTopic(self._id_of(name), parts) for name, parts in _acknowledged(plain[1:], partition)],
        )
        self._send(client, ACKNOWLEDGE, request, words, _next_epoch(sharer, request))

    def describe_sharers(self, plain: list[str], words: Words) -> None:
        groups = [self._group(name) for name in plain if name != "ops"]
        self._send(NOBODY, SHARERS, ShareGroupDescribeRequest(groups, "ops" in plain), words, str)

    def describe_starts(self, plain: list[str], words: Words) -> None:
        topics = [
            starting.DescribeShareGroupOffsetsRequestTopic(self._topic(name), [int(index) for index in indexes if index])
            for name, indexes in _runs(plain[1:])
        ]
        names = [plain[0], *words["also"].split(",")] if "also" in words else plain[:1]
        asked = None if not topics and "none" not in words else topics
        groups = [starting.DescribeShareGroupOffsetsRequestGroup(self._group(name), asked) for name in names]
        self._send(NOBODY, STARTS, DescribeShareGroupOffsetsRequest(groups), words, str)

    def move_starts(self, plain: list[str], words: Words) -> None:
        topics: list[altering.AlterShareGroupOffsetsRequestTopic] = []
        for position in plain[1:]:
            name, index, start = position.split(":")
            topic = self._topic(name)
            if not topics or topics[-1].topic_name != topic:
                topics.append(altering.AlterShareGroupOffsetsRequestTopic(topic, []))
            if index:
                topics[-1].partitions.append(altering.AlterShareGroupOffsetsRequestPartition(int(index), int(start)))
        self._send(NOBODY, MOVE, AlterShareGroupOffsetsRequest(plain[0], topics), words, str)

    def drop_starts(self, plain: list[str], words: Words) -> None:
        topics = [dropping.DeleteShareGroupOffsetsRequestTopic(self._topic(name)) for name in plain[1:]]
        self._send(NOBODY, DROP, DeleteShareGroupOffsetsRequest(plain[0], topics), words, str)

    def _message(self, api: Api, request: Any, version: int, words: Words) -> Message:
        """A group of null stays null."""
        if isinstance(request, ShareFetchRequest | ShareAcknowledgeRequest) and request.group_id is None:
            return request
        return super()._message(api, request, version, words)

    def _sharer_id(self, sharer: Sharer, words: Words) -> str:
        member = words.get("member", sharer.member_id)
        return "" if member == "''" else member


def _next_epoch(sharer: Sharer, request: ShareFetchRequest | ShareAcknowledgeRequest) -> Callable[[Any], str]:
    """A client counts its session on, from 0 over 1; one that was refused begins a new one."""

    def tell(response: Any) -> str:
        epoch = request.share_session_epoch
        is_over = response.error_code != ErrorCode.NONE or epoch == LEAVES
        sharer.session_epoch = 0 if is_over else 1 if epoch == _LAST_SESSION_EPOCH else epoch + 1
        return ""

    return tell


def _acknowledged(plain: list[str], partition: Callable[[int, list[Any]], Any]) -> list[tuple[str, list[Any]]]:
    """Partitions by topic, each with the batches that follow it: first offset, last offset, types."""
    places: list[tuple[str, str]] = []
    batches: list[list[tuple[int, int, list[int]]]] = []
    for word in plain:
        if found := _ACKNOWLEDGED.fullmatch(word):
            batches[-1].append((int(found[1]), int(found[2]), [int(each) for each in found[3].split("+") if each]))
        else:
            name, _, index = word.partition(":")
            places.append((name, index))
            batches.append([])
    topics: list[tuple[str, list[Any]]] = []
    for (name, index), acknowledged in zip(places, batches, strict=True):
        if not topics or topics[-1][0] != name:
            topics.append((name, []))
        if index:
            topics[-1][1].append(partition(int(index), acknowledged))
    return topics


def _runs(positions: list[str]) -> list[tuple[str, list[str]]]:
    """``t:0 t:1 u:0`` by topic, one element for each run."""
    runs: list[tuple[str, list[str]]] = []
    for position in filter(None, positions):
        name, _, index = position.partition(":")
        if not runs or runs[-1][0] != name:
            runs.append((name, []))
        runs[-1][1].append(index)
    return runs


def _nullable(text: str) -> str | None:
    return None if text == "-" else text


_REQUESTS: Final[dict[str, Callable[[Sharing, Client, Sharer, list[str], Words], None]]] = {
    "shares": Sharing.share,
    "unshares": Sharing.unshare,
    "acquires": Sharing.acquire,
    "acknowledges": Sharing.acknowledge,
}
ASKED: Final[dict[str, Callable[[Any, list[str], Words], None]]] = {
    **ASKED_BEFORE,
    "sharers": Sharing.describe_sharers,
    "starts": Sharing.describe_starts,
    "move": Sharing.move_starts,
    "drop": Sharing.drop_starts,
}
# What is about the group that it names first, and what names several.
OF_ONE: Final = {"starts", "move", "drop"}
OF_SEVERAL: Final = {"sharers"}
