"""ConsumerGroupDescribe (69): groups of the consumer protocol (KIP-848), member by member."""

from __future__ import annotations

from typing import Final

from coordinator_server.group.types import CONSUMER
from coordinator_server.server.apis.described_groups import DESCRIBES_MEMBERS, GroupDescription, describing, refusing
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.wire.order import Order
from protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)

_DESCRIPTION: Final = GroupDescription(ConsumerGroupDescribeResponse, DescribedGroup, CONSUMER)

CONSUMER_GROUP_DESCRIBE_API = ApiRow(
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    describing(_DESCRIPTION),
    refusing(_DESCRIPTION),
    Order.READ,
    access=DESCRIBES_MEMBERS,
)
