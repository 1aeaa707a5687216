"""What members of streams groups (KIP-1071) ask: verbs of scripts.

> A streams g topology=0:t>own-r;1:<own-r!own-log    StreamsGroupHeartbeat: the first one joins with epoch 0, the later ones have
                                                      the epoch of the last answer
> A streams g process=p endpoint=h:1 tags=k:v rack=r rebalance=60000 active=0:0+1:2 epoch=3 member=B endpoints=0 shutdown
> A holds g                                           … with the tasks that it was given last: the rest is given up
> A unstreams g                                       … with epoch -1
> streamers g h                                       StreamsGroupDescribe; ``streamers g ops`` with authorized operations

A subtopology is an id and what it reads, then after ``>`` what it writes, after ``<`` repartition topics that it reads, after ``!``
changelog topics, after ``&`` copartitioned topics (or numbers of topics that it reads), and after ``~`` regular expressions; a
repartition or changelog topic may have a number of partitions and a replication factor, and settings: ``own-r*4/1[k:v,k:v]``.
``tepoch`` is the epoch of a topology.

A member's id is the client's name, its process its name in lower case. "-" stands for null, and nothing for an empty list or
string. What a heartbeat does not name is null, so "as before"; one that joins has a rebalance timeout, owns nothing, and has the
topology that it had last. ``unmade`` is for internal topics that are not to be expected.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from protocol.error_codes import ErrorCode
from protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from protocol.messages.streams_group_heartbeat import (
    CopartitionGroup,
    Endpoint,
    KeyValue,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    Topology,
)
from tests.differential.script_requests import NOBODY
from tests.differential.sharing import ASKED as ASKED_BEFORE
from tests.differential.sharing import Sharing
from tests.scenarios.player import Api, Client, Words

STREAM: Final = Api("stream", 0)
STREAMERS: Final = Api("streamers", 0)
JOINS: Final = 0
LEAVES: Final = -1
_REBALANCE_MS: Final = "60000"
_NO_ENDPOINTS: Final = -1
# What a heartbeat says when it joins, and what it said last if it joins again.
_SAID: Final = ("topology", "tepoch", "process", "endpoint", "tags", "rack", "rebalance")
_KINDS: Final = ("active", "standby", "warmup")
_TOPIC: Final = re.compile(r"([^*/\[]+)(?:\*(-?\d+))?(?:/(-?\d+))?(?:\[(.*)\])?")
_MISSING_INTERNAL_TOPICS: Final = 3


class Streamer:
    """What a member of a streams group remembers."""

    def __init__(self, name: str) -> None:
        self.member_id = name
        self.epoch = JOINS
        self.endpoints_epoch = _NO_ENDPOINTS
        self.said: dict[str, str] = {"rebalance": _REBALANCE_MS, "process": name.lower(), "topology": "-"}
        self.tasks: dict[str, list[TaskIds]] = {kind: [] for kind in _KINDS}


class Streaming(Sharing):
    """The members of a script's streams groups on one server."""

    def __init__(self, prefix: str, topic_ids: dict[str, bytes]) -> None:
        super().__init__(prefix, topic_ids)
        self._streamers: dict[tuple[str, str], Streamer] = {}

    def request(self, name: str, plain: list[str], words: Words) -> None:
        if plain[0] not in _REQUESTS:
            super().request(name, plain, words)
            return
        client = self.clients.setdefault(name, self._new_client(name))
        streamer = self._streamers.setdefault((name, plain[1]), Streamer(name))
        _REQUESTS[plain[0]](self, client, streamer, plain[1:], words)

    def stream(self, client: Client, streamer: Streamer, plain: list[str], words: Words) -> None:
        epoch = int(words.get("epoch", streamer.epoch))
        if epoch == JOINS:
            # A client that joins says everything.
            words = {"active": "", "standby": "", "warmup": "", **streamer.said, **words}
        streamer.said |= {key: words[key] for key in _SAID if key in words}
        topology = words.get("topology", "-")
        request = StreamsGroupHeartbeatRequest(
            group_id=plain[0],
            member_id=self._streamer_id(streamer, words),
            member_epoch=epoch,
            endpoint_information_epoch=int(words.get("endpoints", streamer.endpoints_epoch)),
            instance_id=_nullable(words.get("instance", "-")),
            rack_id=_nullable(words.get("rack", "-")),
            rebalance_timeout_ms=int(words.get("rebalance", -1)),
            topology=None if topology == "-" else self._topology(topology, int(words.get("tepoch", 0))),
            process_id=_nullable(words.get("process", "-")),
            user_endpoint=_endpoint(words.get("endpoint", "-")),
            client_tags=_pairs(words.get("tags", "-")),
            task_offsets=_offsets(words.get("offsets", "-")),
            task_end_offsets=_offsets(words.get("ends", "-")),
            shutdown_application="shutdown" in plain,
        )
        for kind in _KINDS:
            text = words.get(kind, "-")
            setattr(request, f"{kind}_tasks", streamer.tasks[kind] if text == "its" else _tasks(text))
        self._send(client, STREAM, request, words, self._tell_streamer(client, streamer))

    def hold(self, client: Client, streamer: Streamer, plain: list[str], words: Words) -> None:
        self.stream(client, streamer, plain, {**dict.fromkeys(_KINDS, "its"), **words})

    def unstream(self, client: Client, streamer: Streamer, plain: list[str], words: Words) -> None:
        self.stream(client, streamer, plain, {"epoch": str(LEAVES), **words})

    def describe_streamers(self, plain: list[str], words: Words) -> None:
        groups = [self._group(name) for name in plain if name != "ops"]
        self._send(NOBODY, STREAMERS, StreamsGroupDescribeRequest(groups, "ops" in plain), words, str)

    def internal_topics(self, name: str, group: str) -> dict[str, None]:
        """The internal topics of the topology that a client has sent last."""
        said = self._streamers[name, group].said["topology"]
        found: dict[str, None] = {}
        if said != "-":
            for each in self._topology(said, 0).subtopologies:
                found.update((topic.name, None) for topic in [*each.repartition_source_topics, *each.state_changelog_topics])
        return found

    def _tell_streamer(self, client: Client, streamer: Streamer) -> Callable[[Any], str]:
        def tell(response: StreamsGroupHeartbeatResponse) -> str:
            if response.error_code == ErrorCode.NONE:
                streamer.epoch = client.generation_id = max(response.member_epoch, JOINS)
                client.member_id = response.member_id
                streamer.endpoints_epoch = response.endpoint_information_epoch
                given = (response.active_tasks, response.standby_tasks, response.warmup_tasks)
                for kind, tasks in zip(_KINDS, given, strict=True):
                    if tasks is not None:
                        streamer.tasks[kind] = [TaskIds(each.subtopology_id, each.partitions) for each in tasks]
            return ""

        return tell

    def _streamer_id(self, streamer: Streamer, words: Words) -> str:
        member = words.get("member", streamer.member_id)
        return "" if member == "''" else member

    def _topology(self, text: str, epoch: int) -> Topology:
        return Topology(epoch, [self._subtopology(each) for each in text.split(";") if each])

    def _subtopology(self, text: str) -> Subtopology:
        subtopology_id, _, rest = text.partition(":")
        parts: dict[str, list[str]] = {mark: [] for mark in "=><!&~"}
        for mark, names in re.findall(r"([=><!&~])([^=><!&~]*)", "=" + rest):
            parts[mark].append(names)
        sources = self._topics_of(parts["="])
        repartition = [self._topic_info(each) for each in _split(parts["<"])]
        names = [topic.name for topic in repartition]
        return Subtopology(
            subtopology_id=subtopology_id,
            source_topics=sources,
            source_topic_regex=_split(parts["~"]),
            state_changelog_topics=[self._topic_info(each) for each in _split(parts["!"])],
            repartition_sink_topics=self._topics_of(parts[">"]),
            repartition_source_topics=repartition,
            copartition_groups=[self._copartitioned(each, sources, names) for each in parts["&"]],
        )

    def _copartitioned(self, text: str, sources: list[str], repartition: list[str]) -> CopartitionGroup:
        group = CopartitionGroup([], [], [])
        for each in text.split("+"):
            name = self._topic(each)
            if name in repartition:
                group.repartition_source_topics.append(repartition.index(name))
            else:
                group.source_topics.append(sources.index(name) if name in sources else int(each))
        return group

    def _topics_of(self, texts: list[str]) -> list[str]:
        return [self._topic(each) for each in _split(texts)]

    def _topic_info(self, text: str) -> TopicInfo:
        found = _TOPIC.fullmatch(text)
        assert found is not None, text
        name, partitions, replicas, settings = found.groups()
        configs = [KeyValue(*each.split(":", 1)) for each in (settings or "").split(",") if each]
        return TopicInfo(self._topic(name), int(partitions or 0), int(replicas or 0), configs)


def _split(texts: list[str]) -> list[str]:
    return [each for text in texts for each in text.split("+") if each]


def _tasks(text: str) -> list[TaskIds] | None:
    """``0:0+0:1+1:2``: the tasks of a kind."""
    if text == "-":
        return None
    found: dict[str, list[int]] = {}
    for each in filter(None, text.split("+")):
        name, _, partition = each.partition(":")
        found.setdefault(name, []).append(int(partition))
    return [TaskIds(name, partitions) for name, partitions in found.items()]


def _endpoint(text: str) -> Endpoint | None:
    host, _, port = text.partition(":")
    return None if text == "-" else Endpoint(host, int(port))


def _pairs(text: str) -> list[KeyValue] | None:
    return None if text == "-" else [KeyValue(*each.split(":", 1)) for each in text.split("+") if each]


def _offsets(text: str) -> list[TaskOffset] | None:
    if text == "-":
        return None
    triples = [each.split(":") for each in text.split("+") if each]
    return [TaskOffset(name, int(partition), int(offset)) for name, partition, offset in triples]


def _nullable(text: str) -> str | None:
    return None if text == "-" else text


def is_missing_topics(answer: Any) -> bool:
    """Whether the answer to a heartbeat says that internal topics are to be made."""
    return any(each["statusCode"] == _MISSING_INTERNAL_TOPICS for each in answer.get("status") or ())


_REQUESTS: Final[dict[str, Callable[[Streaming, Client, Streamer, list[str], Words], None]]] = {
    "streams": Streaming.stream,
    "holds": Streaming.hold,
    "unstreams": Streaming.unstream,
}
ASKED: Final[dict[str, Callable[[Any, list[str], Words], None]]] = {**ASKED_BEFORE, "streamers": Streaming.describe_streamers}
OF_SEVERAL: Final = {"streamers"}
