"""The assignments of classic members, which a coordinator makes where a consumer group has them."""

from __future__ import annotations

from protocol.codec import decode, encode
from protocol.errors import ProtocolError
from protocol.messages.consumer_protocol import ConsumerProtocolAssignment


def in_order(assignment: bytes) -> bytes:
    """The same assignment with its topics by name: they come from a map of topic ids, which are each broker's own."""
    version = int.from_bytes(assignment[:2], "big")
    if not assignment.startswith(b"\0"):
        return assignment
    try:
        read = decode(ConsumerProtocolAssignment, version, assignment[2:])
    except ProtocolError:
        return assignment
    read.assigned_partitions.sort(key=lambda each: each.topic)
    return assignment[:2] + encode(read, version)
