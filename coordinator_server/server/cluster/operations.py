"""The write operations of the catalog, which the other loops forward to its owner by name."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.runtime.runtime import WriteOperation
from protocol.codec import decode, encode
from protocol.fields import Message
from protocol.messages.alter_client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse
from protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)
from protocol.messages.cluster_metadata import ProducerIdsRecord, TopicRecord
from protocol.messages.create_acls import CreateAclsRequest, CreateAclsResponse
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.delete_acls import DeleteAclsRequest, DeleteAclsResponse
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse

CREATE_TOPICS: Final = WriteOperation("create-topics", CatalogShard.create_topics)
AUTO_CREATE_TOPICS: Final = WriteOperation("auto-create-topics", CatalogShard.auto_create_topics)
DELETE_TOPICS: Final = WriteOperation("delete-topics", CatalogShard.delete_topics)
ALTER_CONFIGS: Final = WriteOperation("alter-configs", CatalogShard.alter_configs)
REPLACE_CONFIGS: Final = WriteOperation("replace-configs", CatalogShard.replace_configs)
ALTER_CLIENT_QUOTAS: Final = WriteOperation("alter-client-quotas", CatalogShard.alter_client_quotas)
CREATE_PARTITIONS: Final = WriteOperation("create-partitions", CatalogShard.create_partitions)
CREATE_INTERNAL_TOPIC: Final = WriteOperation("create-internal-topic", CatalogShard.create_internal_topic)
ALLOCATE_PRODUCER_IDS: Final = WriteOperation("allocate-producer-ids", CatalogShard.allocate_producer_ids)
ALTER_SCRAM_USERS: Final = WriteOperation("alter-scram-users", CatalogShard.alter_scram_users)
CREATE_ACLS: Final = WriteOperation("create-acls", CatalogShard.create_acls)
DELETE_ACLS: Final = WriteOperation("delete-acls", CatalogShard.delete_acls)
DECLARE_TOPICS: Final = WriteOperation("declare-topics", CatalogShard.declare_topics)


class Forwarded(NamedTuple):
    """An operation and its message types. Between loops the messages have the newest version, which includes all older fields."""

    operation: WriteOperation[CatalogShard, Any, Any]
    request: type[Message]
    response: type[Message]

    def encode_request(self, request: Message) -> bytes:
        """Return the request, encoded for the owner."""
        return encode(request, self.request.kafka.versions.high)

    def decode_request(self, data: bytes) -> Message:
        """Return the request that the owner runs."""
        return decode(self.request, self.request.kafka.versions.high, data)

    def encode_response(self, response: Message) -> bytes:
        """Return the response, encoded for the forwarding loop."""
        return encode(response, self.response.kafka.versions.high)

    def decode_response(self, data: bytes) -> Message:
        """Return the response for the client of the forwarding loop."""
        return decode(self.response, self.response.kafka.versions.high, data)


FORWARDED: Final[dict[str, Forwarded]] = {
    row.operation.name: row
    for row in (
        Forwarded(CREATE_TOPICS, CreateTopicsRequest, CreateTopicsResponse),
        Forwarded(AUTO_CREATE_TOPICS, CreateTopicsRequest, CreateTopicsResponse),
        Forwarded(CREATE_INTERNAL_TOPIC, TopicRecord, TopicRecord),
        Forwarded(DELETE_TOPICS, DeleteTopicsRequest, DeleteTopicsResponse),
        Forwarded(ALTER_CONFIGS, IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse),
        Forwarded(REPLACE_CONFIGS, AlterConfigsRequest, AlterConfigsResponse),
        Forwarded(ALTER_CLIENT_QUOTAS, AlterClientQuotasRequest, AlterClientQuotasResponse),
        Forwarded(ALLOCATE_PRODUCER_IDS, ProducerIdsRecord, ProducerIdsRecord),
        Forwarded(CREATE_ACLS, CreateAclsRequest, CreateAclsResponse),
        Forwarded(DELETE_ACLS, DeleteAclsRequest, DeleteAclsResponse),
        Forwarded(CREATE_PARTITIONS, CreatePartitionsRequest, CreatePartitionsResponse),
        Forwarded(ALTER_SCRAM_USERS, AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse),
    )
}
