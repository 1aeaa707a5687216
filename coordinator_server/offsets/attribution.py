"""What the log says of a member's operation: provenance headers of our own, behind those that all kinds have.

member     the member id that the request gave
instance   the group instance id that it gave (KIP-345)
"""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator_server.machine.provenance import LONGEST_BYTES, Attribution, Provenance, attribution_header
from protocol.batch_builder import VARINTS, encode_header

_MEMBER: Final = "member"
_INSTANCE: Final = "instance"
# All of the header but the value and its size.
_MEMBER_NAME: Final = encode_header(_MEMBER, b"")[:-1]


def speaking_for(member_id: str, group_instance_id: str | None) -> Attribution | None:
    """The attribution of a request that names a member; None when it names none."""
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
    """The member that an operation was for; empty and None where the log does not say."""

    member_id: str = ""
    group_instance_id: str | None = None


def spoken_for(provenance: Provenance) -> SpokenFor:
    """What ``speaking_for`` wrote; of a header that is there twice, the first."""
    own = dict(reversed(provenance.others))
    return SpokenFor(own.get(_MEMBER, ""), own.get(_INSTANCE))
