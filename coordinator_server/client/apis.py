"""The requests that this client sends, with the versions that it knows. Servers of Kafka 2.0 and later have one of each."""

from __future__ import annotations

from typing import Final

from protocol.api import Api
from protocol.fields import Message, Versions
from protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from protocol.messages.metadata import MetadataRequest, MetadataResponse
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse


def api(request: type[Message], response: type[Message], known: str = "0+") -> Api:
    """Return the row of an API, with the versions that both the declarations and ``known`` have."""
    key = request.kafka.key
    assert key is not None
    versions = request.kafka.versions & Versions.parse(known)
    return Api(key, request.__name__.removesuffix("Request"), versions.low, versions.high, request, response)


APIS: Final = {
    each.request: each
    for each in (
        api(ApiVersionsRequest, ApiVersionsResponse, "0-3"),
        api(SaslHandshakeRequest, SaslHandshakeResponse, "1"),
        api(SaslAuthenticateRequest, SaslAuthenticateResponse),
        # Topics by name: later versions can name them by id only.
        api(MetadataRequest, MetadataResponse, "1-12"),
        api(OffsetCommitRequest, OffsetCommitResponse, "2-9"),
        api(OffsetFetchRequest, OffsetFetchResponse, "2-9"),
        api(CreateTopicsRequest, CreateTopicsResponse),
        api(FindCoordinatorRequest, FindCoordinatorResponse, "0-5"),
        api(JoinGroupRequest, JoinGroupResponse),
        api(SyncGroupRequest, SyncGroupResponse),
        api(HeartbeatRequest, HeartbeatResponse),
        api(LeaveGroupRequest, LeaveGroupResponse),
    )
}
"""By the class of the request."""
