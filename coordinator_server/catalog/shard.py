"""CatalogShard: the replicated state machine of topics, settings, users, ACLs and quotas,
with the records of Kafka's ``__cluster_metadata``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from coordinator_server.catalog.acls import plan_acls, plan_removal
from coordinator_server.catalog.alter_configs import Limits, Own, Resource, ResourceType, plan_alteration, plan_replacement
from coordinator_server.catalog.alter_quotas import Quotas, plan_quotas
from coordinator_server.catalog.client_quotas import CLIENT_QUOTAS, QuotaKey
from coordinator_server.catalog.create import Room, plan, topic_records
from coordinator_server.catalog.create_partitions import plan_growth
from coordinator_server.catalog.delete import plan_deletion
from coordinator_server.catalog.digest import catalog_digest
from coordinator_server.catalog.families import FAMILIES
from coordinator_server.catalog.family import FamilyStates, RecordFamily
from coordinator_server.catalog.producer_ids import block_after
from coordinator_server.catalog.scram_users import SCRAM_USERS, plan_credentials
from coordinator_server.catalog.topic_changes import TopicChanges
from coordinator_server.catalog.topics import DeletedTopic, Topic
from coordinator_server.config import Config
from coordinator_server.kinds import KINDS, partition_counts
from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import (
    CoordinatorResult,
    CoordinatorShard,
    CoordinatorTimer,
    Reply,
    Report,
    RequestContext,
    report_nothing,
)
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry, TimelineDict, TimelineValue
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.alter_client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse
from protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)
from protocol.messages.cluster_metadata import (
    ClientQuotaRecord,
    ConfigRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from protocol.messages.create_acls import CreateAclsRequest, CreateAclsResponse
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.delete_acls import DeleteAclsRequest, DeleteAclsResponse
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse

# The reason in the provenance of topics from the server's ``topics`` property.
TOPICS_DECLARED = "topics-declared"


class CatalogShard(CoordinatorShard):
    """All topics of the cluster. Hard state: topics by name and by id, settings by resource, and the records of families."""

    def __init__(  # noqa: PLR0913 - arguments with names
        self,
        *,
        config: Config,
        registry: SnapshotRegistry,
        timer: CoordinatorTimer,
        new_topic_id: Callable[[], bytes],
        report: Report = report_nothing,
        changes: TopicChanges | None = None,
        node_ids: Callable[[], Sequence[int]] | None = None,
    ) -> None:
        self._config = config
        # The nodes that partitions may be on.
        self._node_ids = node_ids or (lambda: [config.node_id])
        self._changes = changes
        self._report = report
        self._new_topic_id = new_topic_id
        self._by_name: TimelineDict[str, Topic] = TimelineDict(registry)
        self._topics: TimelineDict[bytes, Topic] = TimelineDict(registry)
        self._own: TimelineDict[Resource, Own] = TimelineDict(registry)
        # The number of partitions of all topics, and of groups that have settings.
        self._partitions = TimelineValue(registry, 0)
        self._configured_groups = TimelineValue(registry, 0)
        self._next_producer_id = TimelineValue(registry, 0)
        # Users, ACLs and quotas: the module of each family reads and writes its records here.
        self.families = FamilyStates(registry, FAMILIES)
        # The result of ``all_topics`` as of an offset.
        self._listed: list[Topic] = []
        self._listed_at = -1
        # Called with every topic that a record removes, durable or not.
        self.on_removed: Callable[[DeletedTopic], None] = lambda _topic: None

    # Write operations

    def create_topics(
        self, context: RequestContext, request: CreateTopicsRequest, reply: Reply[CreateTopicsResponse]
    ) -> CoordinatorResult[CreateTopicsResponse]:
        """Create the valid topics of a request. Each topic has its own answer."""
        return self._create(request, self._room())

    def auto_create_topics(
        self, context: RequestContext, request: CreateTopicsRequest, reply: Reply[CreateTopicsResponse]
    ) -> CoordinatorResult[CreateTopicsResponse]:
        """Create the topics that a Metadata request names, if there are not too many."""
        room = self._room()
        most = self._config.live.auto_create_topics_max - len(self._by_name)
        if most < room.topics:
            room = room._replace(topics=most, topics_property="auto.create.topics.max")
        return self._create(request, room)

    def _create(self, request: CreateTopicsRequest, room: Room) -> CoordinatorResult[CreateTopicsResponse]:
        results, records = plan(request, self._by_name.keys(), self._config, self._new_topic_id, room, min(self._node_ids()))
        self._report_full(result.error_code for result in results)
        if request.validate_only:
            records = []
        return CoordinatorResult(CreateTopicsResponse(topics=results), records)

    def _room(self) -> Room:
        config = self._config
        return Room(config.live.topics_max - len(self._by_name), config.live.topics_max_partitions - self._partitions.value)

    def _report_full(self, errors: Iterable[int]) -> None:
        if ErrorCode.POLICY_VIOLATION in errors:
            partitions, groups = self._partitions.value, self._configured_groups.value
            self._report("catalog-full", topics=len(self._by_name), partitions=partitions, groups_with_settings=groups)

    def declare_topics(
        self, context: RequestContext, request: CreateTopicsRequest, reply: Reply[CreateTopicsResponse]
    ) -> CoordinatorResult[CreateTopicsResponse]:
        """Create the topics of the server's ``topics`` property."""
        return replace(self.create_topics(context, request, reply), attribution=because(Reason(TOPICS_DECLARED)))

    def create_internal_topic(
        self, context: RequestContext, request: TopicRecord, reply: Reply[TopicRecord]
    ) -> CoordinatorResult[TopicRecord]:
        """Create the topic of a kind on its first use. Do nothing if it exists."""
        kind = KINDS.get(request.name)
        if kind is None or kind.is_permanent:
            raise CoordinatorError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{request.name} is not made by its first use")
        if request.name in self._by_name:
            return CoordinatorResult(request)
        partitions = partition_counts(self._config.log)[kind.topic]
        return CoordinatorResult(request, topic_records(request.name, request.topic_id, partitions, min(self._node_ids())))

    def delete_topics(
        self, context: RequestContext, request: DeleteTopicsRequest, reply: Reply[DeleteTopicsResponse]
    ) -> CoordinatorResult[DeleteTopicsResponse]:
        """Delete the valid topics of a request. Their committed offsets belong to other shards."""
        if not self._config.live.delete_topic_enable:
            raise CoordinatorError(ErrorCode.TOPIC_DELETION_DISABLED, "Topic deletion is disabled.")
        results, records = plan_deletion(request, self._by_name.get, self._topics.get)
        return CoordinatorResult(DeleteTopicsResponse(responses=results), records)

    def create_partitions(
        self, context: RequestContext, request: CreatePartitionsRequest, reply: Reply[CreatePartitionsResponse]
    ) -> CoordinatorResult[CreatePartitionsResponse]:
        """Add partitions to topics."""
        results, records = plan_growth(request, self._by_name.get, self._node_ids(), self._room())
        self._report_full(result.error_code for result in results)
        return CoordinatorResult(CreatePartitionsResponse(results=results), [] if request.validate_only else records)

    def create_acls(
        self, context: RequestContext, request: CreateAclsRequest, reply: Reply[CreateAclsResponse]
    ) -> CoordinatorResult[CreateAclsResponse]:
        """Add access control entries. Those that exist are no error."""
        results, records = plan_acls(request, self.families, self._new_topic_id, self._config.access.acls_max)
        self._report_full(result.error_code for result in results)
        return CoordinatorResult(CreateAclsResponse(results=results), records)

    def delete_acls(
        self, context: RequestContext, request: DeleteAclsRequest, reply: Reply[DeleteAclsResponse]
    ) -> CoordinatorResult[DeleteAclsResponse]:
        """Remove the access control entries that filters select."""
        results, records = plan_removal(request, self.families)
        return CoordinatorResult(DeleteAclsResponse(filter_results=results), records)

    def allocate_producer_ids(
        self, context: RequestContext, request: ProducerIdsRecord, reply: Reply[ProducerIdsRecord]
    ) -> CoordinatorResult[ProducerIdsRecord]:
        """Give the next block of producer ids to the node of the request. The answer is the record."""
        block = block_after(self._next_producer_id.value, request.broker_id)
        return CoordinatorResult(block, [CoordinatorRecord(block, None)])

    def alter_client_quotas(
        self, context: RequestContext, request: AlterClientQuotasRequest, reply: Reply[AlterClientQuotasResponse]
    ) -> CoordinatorResult[AlterClientQuotasResponse]:
        """Set and remove quotas of users, clients and addresses."""
        room = self._config.client_quotas_max - self.families.count(CLIENT_QUOTAS)
        response, records = plan_quotas(request, Quotas(self._quota, room))
        if any(entry.error_code == ErrorCode.POLICY_VIOLATION for entry in response.entries):
            self._report("client-quotas-full", quotas=self.families.count(CLIENT_QUOTAS))
        return CoordinatorResult(response, [] if request.validate_only else records)

    def _quota(self, key: QuotaKey) -> float | None:
        record: ClientQuotaRecord | None = self.families.record(LATEST, CLIENT_QUOTAS, key)
        return None if record is None else record.value

    def alter_configs(
        self, context: RequestContext, request: IncrementalAlterConfigsRequest, reply: Reply[IncrementalAlterConfigsResponse]
    ) -> CoordinatorResult[IncrementalAlterConfigsResponse]:
        """Change single settings of topics and groups."""
        response, records = plan_alteration(request, self._settings, self._limits)
        self._report_full(result.error_code for result in response.responses)
        return CoordinatorResult(response, [] if request.validate_only else records)

    def replace_configs(
        self, context: RequestContext, request: AlterConfigsRequest, reply: Reply[AlterConfigsResponse]
    ) -> CoordinatorResult[AlterConfigsResponse]:
        """Replace all settings of topics and groups."""
        response, records = plan_replacement(request, self._settings, self._limits)
        self._report_full(result.error_code for result in response.responses)
        return CoordinatorResult(response, [] if request.validate_only else records)

    def alter_scram_users(
        self,
        context: RequestContext,
        request: AlterUserScramCredentialsRequest,
        reply: Reply[AlterUserScramCredentialsResponse],
    ) -> CoordinatorResult[AlterUserScramCredentialsResponse]:
        """Set and remove SCRAM credentials of users. Each user has its own answer."""
        room = self._config.access.scram_credentials_max - self.families.count(SCRAM_USERS)
        results, records = plan_credentials(request, partial(self.families.has, SCRAM_USERS), room)
        return CoordinatorResult(AlterUserScramCredentialsResponse(results=results), records)

    @property
    def _limits(self) -> Limits:
        left = self._config.live.group_configs_max - self._configured_groups.value
        return Limits(self._by_name.keys(), self._config, left)

    def _settings(self, resource: Resource) -> Own:
        return self._own.get(resource) or {}

    # Read operations

    def version(self, committed_offset: int) -> int:
        """Return the number of records that the answers of read operations contain."""
        return committed_offset

    def topic(self, committed_offset: int, name: str) -> Topic | None:
        """Return the topic of this name, or None."""
        return self._by_name.get_at(name, committed_offset)

    def topic_by_id(self, committed_offset: int, topic_id: bytes) -> Topic | None:
        """Return the topic of this id, or None."""
        return self._topics.get_at(topic_id, committed_offset)

    def are_present(self, committed_offset: int, topics: list[Topic]) -> bool:
        """Return whether these topics are unchanged. One that was deleted and created again has the same name, and is new."""
        for topic in topics:  # noqa: SIM110 - a generator takes longer, for each commit
            if self._by_name.get_at(topic.name, committed_offset) is not topic:
                return False
        return True

    def all_topics(self, committed_offset: int) -> list[Topic]:
        """Return every topic, by name. Sorted once for each committed state."""
        if committed_offset != self._listed_at or committed_offset == LATEST:
            self._listed = sorted((topic for _, topic in self._topics.items_at(committed_offset)), key=attrgetter("name"))
            self._listed_at = committed_offset
        return self._listed

    def digest(self, committed_offset: int, max_items: int = LATEST, with_parts: bool = False) -> StateDigest:
        """Return the digest. It is never split into steps, because topics are few."""
        topics = (topic for _, topic in self._topics.items_at(committed_offset))
        next_id = self._next_producer_id.get_at(committed_offset)
        records = self.families.all_records(committed_offset)
        total = catalog_digest(topics, self._own.items_at(committed_offset), next_id, records)
        return StateDigest(committed_offset, total, {})

    def next_producer_id(self, committed_offset: int) -> int:
        """Return the first producer id that no node has been given."""
        return self._next_producer_id.get_at(committed_offset)

    def settings(self, committed_offset: int, resource: Resource) -> Own:
        """Return the settings of a topic or a group without defaults: text by name."""
        return self._own.get_at(resource, committed_offset) or {}

    def with_settings(self, committed_offset: int, kind: int) -> list[str]:
        """Return the sorted names of the resources of a type that have settings."""
        return sorted(name for (each, name), _ in self._own.items_at(committed_offset) if each == kind)

    def record(self, committed_offset: int, family: RecordFamily, key: Hashable) -> Any:
        """Return the record of a family that holds for a key, or None."""
        return self.families.record(committed_offset, family, key)

    def records(self, committed_offset: int, family: RecordFamily) -> Iterable[Any]:
        """Return the records of a family that hold, in no particular order."""
        return self.families.records(committed_offset, family)

    def changed_to(self, committed_offset: int, family: RecordFamily) -> int:
        """Return the offset after the last record of a family; 0 if there is none."""
        return self.families.changed_to(committed_offset, family)

    # The shard's contract

    def replay(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Apply one record."""
        match record.key:
            case TopicRecord(name=name, topic_id=topic_id):
                self._put(Topic(name, topic_id, 0))
                self._note(offset, name, is_new=True)
            case PartitionRecord(partition_id=partition, topic_id=topic_id):
                topic = self._topics[topic_id]
                grown = Topic(topic.name, topic_id, max(topic.partitions, partition + 1))
                self._put(grown)
                self._note(offset, topic.name, is_new=False)
                self._partitions.set(self._partitions.value + grown.partitions - topic.partitions)
            case RemoveTopicRecord(topic_id=topic_id):
                topic = self._topics.pop(topic_id)
                del self._by_name[topic.name]
                self._own.pop((ResourceType.TOPIC, topic.name), None)
                self._partitions.set(self._partitions.value - topic.partitions)
                self.on_removed(DeletedTopic(topic.name, topic_id))
            case ConfigRecord(resource_type=kind, resource_name=resource, name=name, value=value):
                self._set((kind, resource), name, value)
            case ProducerIdsRecord(next_producer_id=next_id):
                self._next_producer_id.set(next_id)
            case message:
                self.families.replay(offset, message)

    def _set(self, resource: Resource, name: str, value: str | None) -> None:
        before = self._own.get(resource) or {}
        own = {key: text for key, text in before.items() if key != name}
        if value is not None:
            own[name] = value
        if own:
            self._own[resource] = own
        else:
            self._own.pop(resource, None)
        if resource[0] == ResourceType.GROUP and bool(own) != bool(before):
            self._configured_groups.set(self._configured_groups.value + (1 if own else -1))

    def _note(self, offset: int, name: str, *, is_new: bool) -> None:
        if self._changes is not None:
            self._changes.note(offset, name, is_new=is_new)

    def _put(self, topic: Topic) -> None:
        self._by_name[topic.name] = self._topics[topic.topic_id] = topic

    def plain_records(self) -> None:
        """Return None: the records are too few for a fast replay."""

    def on_loaded(self) -> None:
        """Leave only those changes of which the shards of this loop have not heard."""
        if self._changes is not None:
            self._changes.loaded()

    def on_unloaded(self) -> None:
        """Do nothing: there is no soft state."""
