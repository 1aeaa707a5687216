"""The checks of a ShareGroupHeartbeat that need no state, in Kafka's order and with its messages."""

from __future__ import annotations

from typing import Final

from coordinator_server.group.common.validation import require, require_text
from coordinator_server.group.share.member import LEAVE_GROUP_EPOCH
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest

JOIN_EPOCH: Final = 0
LONGEST_MEMBER_ID: Final = 36
"""In UTF-16 units. Members choose their ids: a UUID, in one of its forms."""


def validate(request: ShareGroupHeartbeatRequest) -> None:
    """Refuse an invalid request: first what KafkaApis refuses, then what GroupCoordinatorService does. Raises INVALID_REQUEST."""
    length = len(request.member_id.encode("utf-16-le")) // 2
    if not 0 < length <= LONGEST_MEMBER_ID:
        # A broker's answer has no message.
        raise CoordinatorError(ErrorCode.INVALID_REQUEST)
    require_text(request.member_id, "MemberId can't be empty.")
    require_text(request.group_id, "GroupId can't be empty.")
    require_text(request.rack_id, "RackId can't be empty.")
    if request.member_epoch == JOIN_EPOCH:
        require(bool(request.subscribed_topic_names), "SubscribedTopicNames must be set in first request.")
    else:
        require(request.member_epoch >= LEAVE_GROUP_EPOCH, "MemberEpoch is invalid.")
