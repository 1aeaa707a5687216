"""The provenance headers of groups, which identify the member of an operation. They follow the headers common to all kinds.

member     the member id of the request
instance   the group instance id of the request (KIP-345)
took       of a generation of a classic group: how long the rebalance took, from its first cause to this record, in ms
"""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator_server.machine.provenance import LONGEST_BYTES, Attribution, Provenance, attribution_header
from protocol.batch_builder import VARINTS, encode_header

_MEMBER: Final = "member"
_INSTANCE: Final = "instance"
_TOOK: Final = "took"
# The encoded header without the value and its size.
_MEMBER_NAME: Final = encode_header(_MEMBER, b"")[:-1]


def speaking_for(member_id: str, group_instance_id: str | None) -> Attribution | None:
    """Return the attribution of a request with a member id or instance id, or None if it has neither."""
    if group_instance_id is not None:
        instance = Attribution(1, attribution_header(_INSTANCE, group_instance_id))
        return Attribution(1, _member(member_id)).followed_by(instance) if member_id else instance
    return Attribution(1, _member(member_id)) if member_id else None


def _member(member_id: str) -> bytes:
    raw = member_id.encode()
    size = len(raw)
    if size > LONGEST_BYTES:
        return attribution_header(_MEMBER, member_id)
    return b"%b%b%b" % (_MEMBER_NAME, VARINTS[size], raw)


class SpokenFor(NamedTuple):
    """The member of an operation. ``member_id`` is empty and ``group_instance_id`` None if the log has no header for it."""

    member_id: str = ""
    group_instance_id: str | None = None


def spoken_for(provenance: Provenance) -> SpokenFor:
    """Decode the headers of ``speaking_for``. If a header occurs twice, the first one counts."""
    own = dict(reversed(provenance.others))
    return SpokenFor(own.get(_MEMBER, ""), own.get(_INSTANCE))


def rebalance_took(took_ms: int) -> Attribution:
    """Return the attribution of the generation that ends a rebalance."""
    return Attribution(1, attribution_header(_TOOK, str(took_ms)))


def rebalance_took_ms(provenance: Provenance) -> int | None:
    """Decode the header of ``rebalance_took``; None if there is none, or no number in it."""
    text = dict(provenance.others).get(_TOOK, "")
    return int(text) if text.isascii() and text.isdecimal() else None
