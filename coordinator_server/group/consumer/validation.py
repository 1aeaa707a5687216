"""The checks of a ConsumerGroupHeartbeat that need no state, in Kafka's order and with its messages (GroupCoordinatorService)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from coordinator_server.group.common.validation import require, require_text
from coordinator_server.group.consumer.member import LEAVE_GROUP_EPOCH, LEAVE_GROUP_STATIC_EPOCH
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

# Before it, the coordinator chooses the ids of members (KIP-1082).
_FIRST_VERSION_WITH_OWN_IDS: Final = 1
_JOIN_EPOCH: Final = 0


def validate(request: ConsumerGroupHeartbeatRequest, api_version: int, assignors: Collection[str]) -> None:
    """Refuse an invalid request. ``assignors`` are the names of those that members may request. Raises CoordinatorError."""
    epoch = request.member_epoch
    if api_version >= _FIRST_VERSION_WITH_OWN_IDS or epoch > _JOIN_EPOCH or epoch == LEAVE_GROUP_EPOCH:
        require_text(request.member_id, "MemberId can't be empty.")
    require_text(request.group_id, "GroupId can't be empty.")
    require_text(request.instance_id, "InstanceId can't be empty.")
    require_text(request.rack_id, "RackId can't be empty.")
    if epoch == _JOIN_EPOCH:
        _validate_join(request)
    elif epoch == LEAVE_GROUP_STATIC_EPOCH:
        require(request.instance_id is not None, "InstanceId can't be null.")
    elif epoch < LEAVE_GROUP_STATIC_EPOCH:
        require(False, "MemberEpoch is invalid.")
    assignor = request.server_assignor
    if assignor is not None and assignor not in assignors:
        raise CoordinatorError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {assignor} is not supported. Supported assignors: {', '.join(assignors)}.",
        )


def _validate_join(request: ConsumerGroupHeartbeatRequest) -> None:
    require(request.rebalance_timeout_ms != -1, "RebalanceTimeoutMs must be provided in first request.")
    require(request.topic_partitions == [], "TopicPartitions must be empty when (re-)joining.")
    has_subscription = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    require(has_subscription, "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.")
