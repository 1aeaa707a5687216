"""A CatalogShard whose records take the way through their bytes, as a restart would read them."""

from __future__ import annotations

from itertools import count
from typing import Any, TypeVar

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.config import Config
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from coordinator_server.machine.timeline import SnapshotRegistry
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, CoordinatorRecord
from protocol.fields import Message
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from tests.support.configs import config_with
from tests.support.runtime import Outcome

CONTEXT = RequestContext("test", "127.0.0.1", 19, 7)

R = TypeVar("R", bound=Message)


class Catalog:
    """Topic ids are 1, 2, 3 … ``records`` is everything that was written."""

    def __init__(self, config: Config | None = None) -> None:
        ids = count(1)
        self.registry = SnapshotRegistry()
        timer: Any = None
        self.shard = CatalogShard(
            config=config or config_with(num_partitions=3),
            registry=self.registry,
            timer=timer,
            new_topic_id=lambda: next(ids).to_bytes(16, "big"),
            report=self._report,
        )
        # The names of what the shard reported.
        self.reports: list[str] = []
        self.records: list[CoordinatorRecord] = []

    def _report(self, name: str, **fields: object) -> None:
        self.reports.append(name)

    def run(self, operation: Any, request: Message, response: type[R]) -> R:
        """Run a write operation and replay what it writes."""
        result: CoordinatorResult[R] = operation(self.shard, CONTEXT, request, Outcome())
        for record in result.records:
            decoded = CLUSTER_METADATA_SERDE.decode(None, CLUSTER_METADATA_SERDE.encode_value(record))
            assert decoded is not None
            self.shard.replay(len(self.records), decoded)
            self.records.append(decoded)
        assert isinstance(result.response, response)
        return result.response

    def create(self, *topics: CreatableTopic, validate_only: bool = False) -> CreateTopicsResponse:
        request = CreateTopicsRequest(topics=list(topics), validate_only=validate_only)
        return self.run(CatalogShard.create_topics, request, CreateTopicsResponse)

    def error(self, topic: CreatableTopic) -> int:
        return self.create(topic).topics[0].error_code
