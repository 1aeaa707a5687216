"""Groups as jobs and commands show them."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct, field

from coordinator_server.pipeline.states.changes import Change


class NamesOfTopics(Protocol):
    """The names of topics by topic id."""

    def get(self, topic_id: bytes, /) -> str | None:
        """Return the name of a topic, or None."""


class Member(Struct):
    """A member of a group. ``assignment`` is None unless the protocol is the one of Kafka's consumers.

    Epoch, state and ``revoking``, what it must give up, are those of a member of a consumer group (KIP-848).
    """

    member_id: str
    client_id: str
    client_host: str
    session_timeout_ms: int | None
    assignment: dict[str, list[int]] | None
    group_instance_id: str | None = None
    epoch: int | None = None
    state: str | None = None
    revoking: dict[str, list[int]] = {}


class Offset(Struct):
    """A committed offset."""

    topic: str
    partition: int
    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    # Who committed it, if requested and recorded in the log.
    changed: Change | None = None


class Group(Struct):
    """One group. A classic group without a generation is a simple group: it has offsets only.

    A consumer group (KIP-848) or share group (KIP-932) has epochs instead, and a state.
    """

    # In JSON it has the name that all commands give it.
    group_id: str = field(name="group")
    type: str = "classic"
    generation: int | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str | None = None
    members: list[Member] = []
    offsets: list[Offset] = []
    epoch: int | None = None
    assignment_epoch: int | None = None
    state: str | None = None
    # Of a share group: its share partitions, by what is done with them, as partitions by topic. Of a deletion all of a topic.
    share_partitions: dict[str, dict[str, list[int]]] = {}
    # For a type other than classic: the hash of each record, by name.
    records: dict[str, str] = {}
    # The digest that the running server would answer for the group.
    digest: str = ""
    # Who made the current generation and why, if requested and recorded in the log.
    changed: Change | None = None
