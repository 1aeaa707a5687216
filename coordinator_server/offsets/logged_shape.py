"""The shape of plain commits, with the data for log and state."""

from __future__ import annotations

from coordinator_server.machine.provenance import Attribution
from coordinator_server.offsets.attribution import speaking_for
from coordinator_server.offsets.commit_topic import PlainTopic
from protocol.plain_commits import AcceptedCommit, CommitShape


class LoggedShape(CommitShape):
    """A shape with the data common to the records of all its commits."""

    __slots__ = ("answer", "attribution", "commit_topics")

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.attribution: Attribution | None = None
        self.commit_topics: list[PlainTopic] = []
        # The answer if every row is accepted.
        self.answer: AcceptedCommit

    def log_as(self, topics: list[PlainTopic]) -> None:
        """Set the topics of the shape, which must exist."""
        self.commit_topics = topics
        self.answer = self.accepted()
        self.attribution = speaking_for(self.member_id, self.group_instance_id)
