"""CatalogShard: the replicated state machine of topics, over the records of Kafka's own ``__cluster_metadata``."""

from __future__ import annotations

from collections.abc import Callable

from coordinator_server.catalog.create import plan
from coordinator_server.catalog.delete import plan_deletion
from coordinator_server.catalog.digest import topics_digest
from coordinator_server.catalog.grow import plan_growth
from coordinator_server.catalog.topics import DeletedTopic, Topic
from coordinator_server.config import Config, loop_count
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import Reason, Why
from coordinator_server.machine.shard import CoordinatorResult, CoordinatorShard, CoordinatorTimer, Reply, RequestContext
from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.cluster_metadata import PartitionRecord, RemoveTopicRecord, TopicRecord
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse

TOPIC = "__cluster_metadata"


class CatalogShard(CoordinatorShard):
    """All topics of the cluster. Hard state: topics by name and by id."""

    def __init__(
        self, *, config: Config, registry: SnapshotRegistry, timer: CoordinatorTimer, new_topic_id: Callable[[], bytes]
    ) -> None:
        self._config = config
        self._new_topic_id = new_topic_id
        self._by_name: TimelineDict[str, Topic] = TimelineDict(registry)
        self._topics: TimelineDict[bytes, Topic] = TimelineDict(registry)
        # Told of every topic that a record removes, durable or not.
        self.on_removed: Callable[[DeletedTopic], None] = lambda _topic: None

    # Write operations

    def create_topics(
        self, context: RequestContext, request: CreateTopicsRequest, reply: Reply[CreateTopicsResponse]
    ) -> CoordinatorResult[CreateTopicsResponse]:
        """Make the topics that can be made; the answer tells them apart."""
        config = self._config
        results, records = plan(request, self._by_name.keys(), config.num_partitions, config.node_id, self._new_topic_id)
        if request.validate_only:
            records = []
        return CoordinatorResult(CreateTopicsResponse(topics=results), records)

    def declare_topics(
        self, context: RequestContext, request: CreateTopicsRequest, reply: Reply[CreateTopicsResponse]
    ) -> CoordinatorResult[CreateTopicsResponse]:
        """Make the topics that the server's properties declare."""
        result = self.create_topics(context, request, reply)
        result.reasons = [Reason(Why.TOPICS_DECLARED)]
        return result

    def delete_topics(
        self, context: RequestContext, request: DeleteTopicsRequest, reply: Reply[DeleteTopicsResponse]
    ) -> CoordinatorResult[DeleteTopicsResponse]:
        """Remove the topics that can be removed. What groups committed for them is not this shard's."""
        if not self._config.delete_topic_enable:
            raise CoordinatorError(ErrorCode.TOPIC_DELETION_DISABLED, "Topic deletion is disabled.")
        results, records = plan_deletion(request, self._by_name.get, self._topics.get)
        return CoordinatorResult(DeleteTopicsResponse(responses=results), records)

    def create_partitions(
        self, context: RequestContext, request: CreatePartitionsRequest, reply: Reply[CreatePartitionsResponse]
    ) -> CoordinatorResult[CreatePartitionsResponse]:
        """Give topics more partitions."""
        first = self._config.node_id
        results, records = plan_growth(request, self._by_name.get, range(first, first + loop_count(self._config)))
        return CoordinatorResult(CreatePartitionsResponse(results=results), [] if request.validate_only else records)

    # Read operations

    def topic(self, committed_offset: int, name: str) -> Topic | None:
        """The topic of this name."""
        return self._by_name.get_at(name, committed_offset)

    def topic_by_id(self, committed_offset: int, topic_id: bytes) -> Topic | None:
        """The topic of this id."""
        return self._topics.get_at(topic_id, committed_offset)

    def all_topics(self, committed_offset: int) -> list[Topic]:
        """Every topic, by name."""
        return sorted((topic for _, topic in self._topics.items_at(committed_offset)), key=lambda topic: topic.name)

    def digest(self, committed_offset: int) -> tuple[int, str]:
        """What all topics come to after the records before the returned offset."""
        return committed_offset, topics_digest(topic for _, topic in self._topics.items_at(committed_offset))

    # The shard's contract

    def replay(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Apply one record."""
        match record.key:
            case TopicRecord(name=name, topic_id=topic_id):
                self._put(Topic(name, topic_id, 0))
            case PartitionRecord(partition_id=partition, topic_id=topic_id):
                topic = self._topics[topic_id]
                self._put(Topic(topic.name, topic_id, max(topic.partitions, partition + 1)))
            case RemoveTopicRecord(topic_id=topic_id):
                topic = self._topics.pop(topic_id)
                del self._by_name[topic.name]
                self.on_removed(DeletedTopic(topic.name, topic_id))

    def _put(self, topic: Topic) -> None:
        self._by_name[topic.name] = self._topics[topic.topic_id] = topic

    def plain_records(self) -> None:
        """Too few records for a shortcut."""

    def on_loaded(self) -> None:
        """Nothing but hard state here."""

    def on_unloaded(self) -> None:
        """Nothing but hard state here."""
