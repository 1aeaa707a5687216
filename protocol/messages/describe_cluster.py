"""DescribeCluster (60): the cluster's id and brokers (KIP-700).

Version 1 asks brokers or controllers (KIP-919), 2 lists fenced brokers too (KIP-1073).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Bool, Int8, Int16, Int32, Item, Message, String, V, request, response


class DescribeClusterRequest(Message):
    kafka = request(60, "0-2", flexible="0+")
    include_cluster_authorized_operations: Bool = False
    endpoint_type: Annotated[Int8, V("1+")] = 1
    include_fenced_brokers: Annotated[Bool, V("2+")] = False


class DescribeClusterResponse(Message):
    kafka = response(60, "0-2", flexible="0+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    endpoint_type: Annotated[Int8, V("1+")] = 1
    cluster_id: String = ""
    controller_id: Int32 = -1
    brokers: list[DescribeClusterBroker] = []
    cluster_authorized_operations: Int32 = -(2**31)


class DescribeClusterBroker(Item):
    broker_id: Int32 = 0
    host: String = ""
    port: Int32 = 0
    rack: String | None = None
    is_fenced: Annotated[Bool, V("2+")] = False
