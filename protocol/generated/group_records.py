"""Codecs of protocol/messages/group_records.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import ZERO_UUID, Message
from protocol.generated.layouts import (
    unpack_h,
    unpack_i,
    unpack_iB,
    unpack_ih,
    unpack_ii,
    unpack_iiB,
    unpack_iii,
    unpack_q,
    unpack_qB,
    unpack_qh,
    unpack_qi,
    unpack_qiB,
    unpack_qih,
    unpack_qq,
    unpack_u,
)
from protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from protocol.refusal import BadField, decode_failure, encode_failure, verify
from protocol.runs import Field, Shape, alike
from protocol.wire import (
    DECODE_ERRORS,
    ENCODE_ERRORS,
    at_version,
    long_text,
    read_string_size,
    read_uvarint,
    skip_tags,
    write_string_size,
    write_uvarint,
)

SHAPE_1 = Shape("", 0, Field("", 0, 2, False, ""), Field("", 0, 2, False, ""), Field("", 0, 2, False, ""), Field("i", 4, 4, False, b""), Field("", 0, 4, False, b""))
SHAPE_2 = Shape("", 0, Field("", 0, 2, False, ""), Field("", 0, 2, False, ""), Field("", 0, 2, False, ""), Field("ii", 8, 4, False, b""), Field("", 0, 4, False, b""))
SHAPE_3 = Shape("", 0, Field("", 0, 2, False, ""), Field("", 0, 2, True, ""), Field("", 0, 2, False, ""), Field("", 0, 2, False, ""), Field("ii", 8, 4, False, b""), Field("", 0, 4, False, b""))
SHAPE_4 = Shape("x", 1, Field("", 0, 1, False, ""), Field("", 0, 1, True, ""), Field("", 0, 1, False, ""), Field("", 0, 1, False, ""), Field("ii", 8, 1, False, b""), Field("", 0, 1, False, b""))
pack_BBBu = Struct(">BBB16s").pack
pack_h = Struct(">h").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ih = Struct(">ih").pack
pack_ii = Struct(">ii").pack
pack_iiB = Struct(">iiB").pack
pack_iii = Struct(">iii").pack
pack_q = Struct(">q").pack
pack_qB = Struct(">qB").pack
pack_qh = Struct(">qh").pack
pack_qi = Struct(">qi").pack
pack_qiB = Struct(">qiB").pack
pack_qih = Struct(">qih").pack
pack_qq = Struct(">qq").pack


def decode_legacy_offset_commit_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[LegacyOffsetCommitKey, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group")
        if n < 0x80:
            group = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group = long_text(buf, here, pos)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("topic")
        if n < 0x80:
            topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            topic = long_text(buf, here, pos)
        (partition,) = unpack_i(buf, pos)
        pos += 4
        return LegacyOffsetCommitKey(group, topic, partition), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, LegacyOffsetCommitKey, version, buf, start, pos) from None


def encode_legacy_offset_commit_key_v0(msg: LegacyOffsetCommitKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(msg.partition)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "LegacyOffsetCommitKey", version) from error


def decode_legacy_offset_commit_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[LegacyOffsetCommitValue, int]:
    start = pos
    n: int
    try:
        offset, n = unpack_qh(buf, pos)
        if n < 0:
            raise BadField("metadata")
        if n < 0x80:
            metadata = buf[pos + 10 : (pos := pos + 10 + n)].decode()
        else:
            here = pos + 10
            pos = here + n
            metadata = long_text(buf, here, pos)
        (commit_timestamp,) = unpack_q(buf, pos)
        pos += 8
        return LegacyOffsetCommitValue(offset, metadata, commit_timestamp), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, LegacyOffsetCommitValue, version, buf, start, pos) from None


def encode_legacy_offset_commit_value_v0(msg: LegacyOffsetCommitValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.metadata.encode()
        out += pack_qh(msg.offset, len(raw))
        out += raw
        out += pack_q(msg.commit_timestamp)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "LegacyOffsetCommitValue", version) from error


def decode_offset_commit_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[OffsetCommitKey, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group")
        if n < 0x80:
            group = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group = long_text(buf, here, pos)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("topic")
        if n < 0x80:
            topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            topic = long_text(buf, here, pos)
        (partition,) = unpack_i(buf, pos)
        pos += 4
        return OffsetCommitKey(group, topic, partition), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetCommitKey, version, buf, start, pos) from None


def encode_offset_commit_key_v0(msg: OffsetCommitKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(msg.partition)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetCommitKey", version) from error


def decode_offset_commit_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[OffsetCommitValue, int]:
    start = pos
    n: int
    try:
        offset, n = unpack_qh(buf, pos)
        if n < 0:
            raise BadField("metadata")
        if n < 0x80:
            metadata = buf[pos + 10 : (pos := pos + 10 + n)].decode()
        else:
            here = pos + 10
            pos = here + n
            metadata = long_text(buf, here, pos)
        (commit_timestamp,) = unpack_q(buf, pos)
        pos += 8
        return OffsetCommitValue(offset, -1, metadata, commit_timestamp), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetCommitValue, version, buf, start, pos) from None


def decode_offset_commit_value_v1(buf: bytes, pos: int, version: int = 1) -> tuple[OffsetCommitValue, int]:
    start = pos
    n: int
    try:
        offset, n = unpack_qh(buf, pos)
        if n < 0:
            raise BadField("metadata")
        if n < 0x80:
            metadata = buf[pos + 10 : (pos := pos + 10 + n)].decode()
        else:
            here = pos + 10
            pos = here + n
            metadata = long_text(buf, here, pos)
        commit_timestamp, expire_timestamp = unpack_qq(buf, pos)
        pos += 16
        return OffsetCommitValue(offset, -1, metadata, commit_timestamp, expire_timestamp), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetCommitValue, version, buf, start, pos) from None


decode_offset_commit_value_v2 = at_version(decode_offset_commit_value_v0, 2)


def decode_offset_commit_value_v3(buf: bytes, pos: int, version: int = 3) -> tuple[OffsetCommitValue, int]:
    start = pos
    n: int
    try:
        offset, leader_epoch, n = unpack_qih(buf, pos)
        if n < 0:
            raise BadField("metadata")
        if n < 0x80:
            metadata = buf[pos + 14 : (pos := pos + 14 + n)].decode()
        else:
            here = pos + 14
            pos = here + n
            metadata = long_text(buf, here, pos)
        (commit_timestamp,) = unpack_q(buf, pos)
        pos += 8
        return OffsetCommitValue(offset, leader_epoch, metadata, commit_timestamp), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetCommitValue, version, buf, start, pos) from None


def decode_offset_commit_value_v4(buf: bytes, pos: int, version: int = 4) -> tuple[OffsetCommitValue, int]:
    start = pos
    n: int
    try:
        offset, leader_epoch, n = unpack_qiB(buf, pos)
        if 0 < n < 0x80:
            metadata = buf[pos + 13 : (pos := pos + 12 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 12)
            if n == 0:
                raise BadField("metadata")
            n -= 1
            here = pos
            pos = here + n
            metadata = long_text(buf, here, pos)
        commit_timestamp, n = unpack_qB(buf, pos)
        pos += 9
        topic_id: bytes = ZERO_UUID
        if n:
            n, pos = read_uvarint(buf, pos - 1)
            tag_count = n
            for _ in range(tag_count):
                tag, pos = read_uvarint(buf, pos)
                n, pos = read_uvarint(buf, pos)
                tag_end = pos + n
                if tag_end > len(buf):
                    raise IndexError
                if tag == 0:
                    (topic_id,) = unpack_u(buf, pos)
                    pos += 16
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return OffsetCommitValue(offset, leader_epoch, metadata, commit_timestamp, -1, topic_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetCommitValue, version, buf, start, pos) from None


def encode_offset_commit_value_v0(msg: OffsetCommitValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.metadata.encode()
        out += pack_qh(msg.offset, len(raw))
        out += raw
        out += pack_q(msg.commit_timestamp)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetCommitValue", version) from error


def encode_offset_commit_value_v1(msg: OffsetCommitValue, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        raw = msg.metadata.encode()
        out += pack_qh(msg.offset, len(raw))
        out += raw
        out += pack_qq(msg.commit_timestamp, msg.expire_timestamp)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetCommitValue", version) from error


encode_offset_commit_value_v2 = at_version(encode_offset_commit_value_v0, 2)


def encode_offset_commit_value_v3(msg: OffsetCommitValue, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        raw = msg.metadata.encode()
        out += pack_qih(msg.offset, msg.leader_epoch, len(raw))
        out += raw
        out += pack_q(msg.commit_timestamp)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetCommitValue", version) from error


def encode_offset_commit_value_v4(msg: OffsetCommitValue, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        raw = msg.metadata.encode()
        n = len(raw) + 1
        if n < 0x80:
            out += pack_qiB(msg.offset, msg.leader_epoch, n)
        else:
            out += pack_qi(msg.offset, msg.leader_epoch)
            out += write_string_size(n)
        out += raw
        out += pack_q(msg.commit_timestamp)
        if msg.topic_id != ZERO_UUID:
            if len(msg.topic_id) != 16:
                raise BadField("topic_id", "a UUID has 16 bytes")
            out += pack_BBBu(1, 0, 16, msg.topic_id)
        else:
            out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetCommitValue", version) from error


def decode_group_metadata_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[GroupMetadataKey, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group")
        if n < 0x80:
            group = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return GroupMetadataKey(group), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, GroupMetadataKey, version, buf, start, pos) from None


def encode_group_metadata_key_v0(msg: GroupMetadataKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "GroupMetadataKey", version) from error


def decode_group_metadata_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[GroupMetadataValue, int]:
    start = pos
    n: int
    try:
        room = 45584 - 2 * len(buf)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("protocol_type")
        if n < 0x80:
            protocol_type = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            protocol_type = long_text(buf, here, pos)
        protocol: str | None
        generation, n = unpack_ih(buf, pos)
        if n < 0:
            protocol = None
            pos += 6
        elif n < 0x80:
            protocol = buf[pos + 6 : (pos := pos + 6 + n)].decode()
        else:
            here = pos + 6
            pos = here + n
            protocol = long_text(buf, here, pos)
        leader: str | None
        (n,) = unpack_h(buf, pos)
        if n < 0:
            leader = None
            pos += 2
        elif n < 0x80:
            leader = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            leader = long_text(buf, here, pos)
        (n,) = unpack_i(buf, pos)
        pos += 4
        members: list[MemberMetadata]
        if n < 0:
            raise BadField("members")
        room -= n * 384
        if room < 0:
            room = verify(GroupMetadataValue, version, buf, start, pos + n)
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8:
                run = alike(SHAPE_1, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [MemberMetadata(member_id.decode(), None, client_id.decode(), client_host.decode(), -1, session_timeout, subscription, assignment) for member_id, client_id, client_host, session_timeout, subscription, assignment in rows]
                    continue
                if members_step < members_left:
                    members_count = members_step
                members_step *= 2
            members_left -= members_count
            for _ in range(members_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("members.member_id")
                if n < 0x80:
                    members_member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_member_id = long_text(buf, here, pos)
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("members.client_id")
                if n < 0x80:
                    members_client_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_client_id = long_text(buf, here, pos)
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("members.client_host")
                if n < 0x80:
                    members_client_host = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_client_host = long_text(buf, here, pos)
                members_session_timeout, n = unpack_ii(buf, pos)
                if n < 0:
                    raise BadField("members.subscription")
                members_subscription = buf[pos + 8 : (pos := pos + 8 + n)]
                (n,) = unpack_i(buf, pos)
                if n < 0:
                    raise BadField("members.assignment")
                members_assignment = buf[pos + 4 : (pos := pos + 4 + n)]
                members.append(MemberMetadata(members_member_id, None, members_client_id, members_client_host, -1, members_session_timeout, members_subscription, members_assignment))
        if pos > len(buf):
            raise IndexError
        return GroupMetadataValue(protocol_type, generation, protocol, leader, -1, members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, GroupMetadataValue, version, buf, start, pos) from None


def decode_group_metadata_value_v1(buf: bytes, pos: int, version: int = 1) -> tuple[GroupMetadataValue, int]:
    start = pos
    n: int
    try:
        room = 45584 - 2 * len(buf)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("protocol_type")
        if n < 0x80:
            protocol_type = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            protocol_type = long_text(buf, here, pos)
        protocol: str | None
        generation, n = unpack_ih(buf, pos)
        if n < 0:
            protocol = None
            pos += 6
        elif n < 0x80:
            protocol = buf[pos + 6 : (pos := pos + 6 + n)].decode()
        else:
            here = pos + 6
            pos = here + n
            protocol = long_text(buf, here, pos)
        leader: str | None
        (n,) = unpack_h(buf, pos)
        if n < 0:
            leader = None
            pos += 2
        elif n < 0x80:
            leader = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            leader = long_text(buf, here, pos)
        (n,) = unpack_i(buf, pos)
        pos += 4
        members: list[MemberMetadata]
        if n < 0:
            raise BadField("members")
        room -= n * 400
        if room < 0:
            room = verify(GroupMetadataValue, version, buf, start, pos + n)
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8:
                run = alike(SHAPE_2, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [MemberMetadata(member_id.decode(), None, client_id.decode(), client_host.decode(), rebalance_timeout, session_timeout, subscription, assignment) for member_id, client_id, client_host, rebalance_timeout, session_timeout, subscription, assignment in rows]
                    continue
                if members_step < members_left:
                    members_count = members_step
                members_step *= 2
            members_left -= members_count
            for _ in range(members_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("members.member_id")
                if n < 0x80:
                    members_member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_member_id = long_text(buf, here, pos)
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("members.client_id")
                if n < 0x80:
                    members_client_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_client_id = long_text(buf, here, pos)
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("members.client_host")
                if n < 0x80:
                    members_client_host = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_client_host = long_text(buf, here, pos)
                members_rebalance_timeout, members_session_timeout, n = unpack_iii(buf, pos)
                if n < 0:
                    raise BadField("members.subscription")
                members_subscription = buf[pos + 12 : (pos := pos + 12 + n)]
                (n,) = unpack_i(buf, pos)
                if n < 0:
                    raise BadField("members.assignment")
                members_assignment = buf[pos + 4 : (pos := pos + 4 + n)]
                members.append(MemberMetadata(members_member_id, None, members_client_id, members_client_host, members_rebalance_timeout, members_session_timeout, members_subscription, members_assignment))
        if pos > len(buf):
            raise IndexError
        return GroupMetadataValue(protocol_type, generation, protocol, leader, -1, members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, GroupMetadataValue, version, buf, start, pos) from None


def decode_group_metadata_value_v2(buf: bytes, pos: int, version: int = 2) -> tuple[GroupMetadataValue, int]:
    start = pos
    n: int
    try:
        room = 45536 - 2 * len(buf)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("protocol_type")
        if n < 0x80:
            protocol_type = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            protocol_type = long_text(buf, here, pos)
        protocol: str | None
        generation, n = unpack_ih(buf, pos)
        if n < 0:
            protocol = None
            pos += 6
        elif n < 0x80:
            protocol = buf[pos + 6 : (pos := pos + 6 + n)].decode()
        else:
            here = pos + 6
            pos = here + n
            protocol = long_text(buf, here, pos)
        leader: str | None
        (n,) = unpack_h(buf, pos)
        if n < 0:
            leader = None
            pos += 2
        elif n < 0x80:
            leader = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            leader = long_text(buf, here, pos)
        current_state_timestamp, n = unpack_qi(buf, pos)
        pos += 12
        members: list[MemberMetadata]
        if n < 0:
            raise BadField("members")
        room -= n * 400
        if room < 0:
            room = verify(GroupMetadataValue, version, buf, start, pos + n)
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8:
                run = alike(SHAPE_2, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [MemberMetadata(member_id.decode(), None, client_id.decode(), client_host.decode(), rebalance_timeout, session_timeout, subscription, assignment) for member_id, client_id, client_host, rebalance_timeout, session_timeout, subscription, assignment in rows]
                    continue
                if members_step < members_left:
                    members_count = members_step
                members_step *= 2
            members_left -= members_count
            for _ in range(members_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("members.member_id")
                if n < 0x80:
                    members_member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_member_id = long_text(buf, here, pos)
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("members.client_id")
                if n < 0x80:
                    members_client_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_client_id = long_text(buf, here, pos)
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("members.client_host")
                if n < 0x80:
                    members_client_host = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_client_host = long_text(buf, here, pos)
                members_rebalance_timeout, members_session_timeout, n = unpack_iii(buf, pos)
                if n < 0:
                    raise BadField("members.subscription")
                members_subscription = buf[pos + 12 : (pos := pos + 12 + n)]
                (n,) = unpack_i(buf, pos)
                if n < 0:
                    raise BadField("members.assignment")
                members_assignment = buf[pos + 4 : (pos := pos + 4 + n)]
                members.append(MemberMetadata(members_member_id, None, members_client_id, members_client_host, members_rebalance_timeout, members_session_timeout, members_subscription, members_assignment))
        if pos > len(buf):
            raise IndexError
        return GroupMetadataValue(protocol_type, generation, protocol, leader, current_state_timestamp, members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, GroupMetadataValue, version, buf, start, pos) from None


def decode_group_metadata_value_v3(buf: bytes, pos: int, version: int = 3) -> tuple[GroupMetadataValue, int]:
    start = pos
    n: int
    try:
        room = 45536 - 2 * len(buf)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("protocol_type")
        if n < 0x80:
            protocol_type = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            protocol_type = long_text(buf, here, pos)
        protocol: str | None
        generation, n = unpack_ih(buf, pos)
        if n < 0:
            protocol = None
            pos += 6
        elif n < 0x80:
            protocol = buf[pos + 6 : (pos := pos + 6 + n)].decode()
        else:
            here = pos + 6
            pos = here + n
            protocol = long_text(buf, here, pos)
        leader: str | None
        (n,) = unpack_h(buf, pos)
        if n < 0:
            leader = None
            pos += 2
        elif n < 0x80:
            leader = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            leader = long_text(buf, here, pos)
        current_state_timestamp, n = unpack_qi(buf, pos)
        pos += 12
        members: list[MemberMetadata]
        if n < 0:
            raise BadField("members")
        room -= n * 472
        if room < 0:
            room = verify(GroupMetadataValue, version, buf, start, pos + n)
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8:
                run = alike(SHAPE_3, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [MemberMetadata(member_id.decode(), group_instance_id.decode() if group_instance_id else absent[1], client_id.decode(), client_host.decode(), rebalance_timeout, session_timeout, subscription, assignment) for member_id, group_instance_id, client_id, client_host, rebalance_timeout, session_timeout, subscription, assignment in rows]
                    continue
                if members_step < members_left:
                    members_count = members_step
                members_step *= 2
            members_left -= members_count
            for _ in range(members_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("members.member_id")
                if n < 0x80:
                    members_member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_member_id = long_text(buf, here, pos)
                members_group_instance_id: str | None
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    members_group_instance_id = None
                    pos += 2
                elif n < 0x80:
                    members_group_instance_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_group_instance_id = long_text(buf, here, pos)
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("members.client_id")
                if n < 0x80:
                    members_client_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_client_id = long_text(buf, here, pos)
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("members.client_host")
                if n < 0x80:
                    members_client_host = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_client_host = long_text(buf, here, pos)
                members_rebalance_timeout, members_session_timeout, n = unpack_iii(buf, pos)
                if n < 0:
                    raise BadField("members.subscription")
                members_subscription = buf[pos + 12 : (pos := pos + 12 + n)]
                (n,) = unpack_i(buf, pos)
                if n < 0:
                    raise BadField("members.assignment")
                members_assignment = buf[pos + 4 : (pos := pos + 4 + n)]
                members.append(MemberMetadata(members_member_id, members_group_instance_id, members_client_id, members_client_host, members_rebalance_timeout, members_session_timeout, members_subscription, members_assignment))
        if pos > len(buf):
            raise IndexError
        return GroupMetadataValue(protocol_type, generation, protocol, leader, current_state_timestamp, members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, GroupMetadataValue, version, buf, start, pos) from None


def decode_group_metadata_value_v4(buf: bytes, pos: int, version: int = 4) -> tuple[GroupMetadataValue, int]:
    start = pos
    n: int
    try:
        room = 45536 - 2 * len(buf)
        n = buf[pos]
        if 0 < n < 0x80:
            protocol_type = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("protocol_type")
            n -= 1
            here = pos
            pos = here + n
            protocol_type = long_text(buf, here, pos)
        protocol: str | None
        generation, n = unpack_iB(buf, pos)
        if not n:
            protocol = None
            pos += 5
        elif n == 1:
            protocol = ""
            pos += 5
        elif n < 0x80:
            protocol = buf[pos + 5 : (pos := pos + 4 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 4)
            if n:
                n -= 1
                here = pos
                pos = here + n
                protocol = long_text(buf, here, pos)
            else:
                protocol = None
        leader: str | None
        n = buf[pos]
        if not n:
            leader = None
            pos += 1
        elif n == 1:
            leader = ""
            pos += 1
        elif n < 0x80:
            leader = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                leader = long_text(buf, here, pos)
            else:
                leader = None
        current_state_timestamp, n = unpack_qB(buf, pos)
        pos += 9
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        members: list[MemberMetadata]
        if n < 0:
            raise BadField("members")
        room -= n * 508
        if room < 0:
            room = verify(GroupMetadataValue, version, buf, start, pos + n)
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8:
                run = alike(SHAPE_4, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [MemberMetadata(member_id.decode(), group_instance_id.decode() if group_instance_id else absent[1], client_id.decode(), client_host.decode(), rebalance_timeout, session_timeout, subscription, assignment) for member_id, group_instance_id, client_id, client_host, rebalance_timeout, session_timeout, subscription, assignment in rows]
                    continue
                if members_step < members_left:
                    members_count = members_step
                members_step *= 2
            members_left -= members_count
            for _ in range(members_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    members_member_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("members.member_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    members_member_id = long_text(buf, here, pos)
                members_group_instance_id: str | None
                n = buf[pos]
                if not n:
                    members_group_instance_id = None
                    pos += 1
                elif n == 1:
                    members_group_instance_id = ""
                    pos += 1
                elif n < 0x80:
                    members_group_instance_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        members_group_instance_id = long_text(buf, here, pos)
                    else:
                        members_group_instance_id = None
                n = buf[pos]
                if 0 < n < 0x80:
                    members_client_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("members.client_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    members_client_id = long_text(buf, here, pos)
                n = buf[pos]
                if 0 < n < 0x80:
                    members_client_host = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("members.client_host")
                    n -= 1
                    here = pos
                    pos = here + n
                    members_client_host = long_text(buf, here, pos)
                members_rebalance_timeout, members_session_timeout, n = unpack_iiB(buf, pos)
                if 0 < n < 0x80:
                    members_subscription = buf[pos + 9 : (pos := pos + 8 + n)]
                else:
                    n, pos = read_uvarint(buf, pos + 8)
                    if n == 0:
                        raise BadField("members.subscription")
                    n -= 1
                    here = pos
                    pos = here + n
                    members_subscription = buf[here:pos]
                n = buf[pos]
                if 0 < n < 0x80:
                    members_assignment = buf[pos + 1 : (pos := pos + n)]
                else:
                    n, pos = read_uvarint(buf, pos)
                    if n == 0:
                        raise BadField("members.assignment")
                    n -= 1
                    here = pos
                    pos = here + n
                    members_assignment = buf[here:pos]
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                members.append(MemberMetadata(members_member_id, members_group_instance_id, members_client_id, members_client_host, members_rebalance_timeout, members_session_timeout, members_subscription, members_assignment))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return GroupMetadataValue(protocol_type, generation, protocol, leader, current_state_timestamp, members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, GroupMetadataValue, version, buf, start, pos) from None


def encode_group_metadata_value_v0(msg: GroupMetadataValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.protocol_type.encode()
        out += pack_h(len(raw))
        out += raw
        text = msg.protocol
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_ih(msg.generation, n)
        out += raw
        text = msg.leader
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_h(n)
        out += raw
        members = msg.members
        out += pack_i(len(members))
        for members_item in members:
            raw = members_item.member_id.encode()
            out += pack_h(len(raw))
            out += raw
            raw = members_item.client_id.encode()
            out += pack_h(len(raw))
            out += raw
            raw = members_item.client_host.encode()
            out += pack_h(len(raw))
            out += raw
            raw = members_item.subscription
            out += pack_ii(members_item.session_timeout, len(raw))
            out += raw
            raw = members_item.assignment
            out += pack_i(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "GroupMetadataValue", version) from error


def encode_group_metadata_value_v1(msg: GroupMetadataValue, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        raw = msg.protocol_type.encode()
        out += pack_h(len(raw))
        out += raw
        text = msg.protocol
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_ih(msg.generation, n)
        out += raw
        text = msg.leader
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_h(n)
        out += raw
        members = msg.members
        out += pack_i(len(members))
        for members_item in members:
            raw = members_item.member_id.encode()
            out += pack_h(len(raw))
            out += raw
            raw = members_item.client_id.encode()
            out += pack_h(len(raw))
            out += raw
            raw = members_item.client_host.encode()
            out += pack_h(len(raw))
            out += raw
            raw = members_item.subscription
            out += pack_iii(members_item.rebalance_timeout, members_item.session_timeout, len(raw))
            out += raw
            raw = members_item.assignment
            out += pack_i(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "GroupMetadataValue", version) from error


def encode_group_metadata_value_v2(msg: GroupMetadataValue, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        raw = msg.protocol_type.encode()
        out += pack_h(len(raw))
        out += raw
        text = msg.protocol
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_ih(msg.generation, n)
        out += raw
        text = msg.leader
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_h(n)
        out += raw
        members = msg.members
        out += pack_qi(msg.current_state_timestamp, len(members))
        for members_item in members:
            raw = members_item.member_id.encode()
            out += pack_h(len(raw))
            out += raw
            raw = members_item.client_id.encode()
            out += pack_h(len(raw))
            out += raw
            raw = members_item.client_host.encode()
            out += pack_h(len(raw))
            out += raw
            raw = members_item.subscription
            out += pack_iii(members_item.rebalance_timeout, members_item.session_timeout, len(raw))
            out += raw
            raw = members_item.assignment
            out += pack_i(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "GroupMetadataValue", version) from error


def encode_group_metadata_value_v3(msg: GroupMetadataValue, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        raw = msg.protocol_type.encode()
        out += pack_h(len(raw))
        out += raw
        text = msg.protocol
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_ih(msg.generation, n)
        out += raw
        text = msg.leader
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_h(n)
        out += raw
        members = msg.members
        out += pack_qi(msg.current_state_timestamp, len(members))
        for members_item in members:
            raw = members_item.member_id.encode()
            out += pack_h(len(raw))
            out += raw
            text = members_item.group_instance_id
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_h(n)
            out += raw
            raw = members_item.client_id.encode()
            out += pack_h(len(raw))
            out += raw
            raw = members_item.client_host.encode()
            out += pack_h(len(raw))
            out += raw
            raw = members_item.subscription
            out += pack_iii(members_item.rebalance_timeout, members_item.session_timeout, len(raw))
            out += raw
            raw = members_item.assignment
            out += pack_i(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "GroupMetadataValue", version) from error


def encode_group_metadata_value_v4(msg: GroupMetadataValue, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        raw = msg.protocol_type.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        text = msg.protocol
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out += pack_iB(msg.generation, n)
        else:
            out += pack_i(msg.generation)
            out += write_string_size(n)
        out += raw
        text = msg.leader
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        members = msg.members
        n = len(members) + 1
        if n < 0x80:
            out += pack_qB(msg.current_state_timestamp, n)
        else:
            out += pack_q(msg.current_state_timestamp)
            out += write_uvarint(n)
        for members_item in members:
            raw = members_item.member_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            text = members_item.group_instance_id
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = members_item.client_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = members_item.client_host.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = members_item.subscription
            n = len(raw) + 1
            if n < 0x80:
                out += pack_iiB(members_item.rebalance_timeout, members_item.session_timeout, n)
            else:
                out += pack_ii(members_item.rebalance_timeout, members_item.session_timeout)
                out += write_uvarint(n)
            out += raw
            raw = members_item.assignment
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "GroupMetadataValue", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    LegacyOffsetCommitKey: {
        0: decode_legacy_offset_commit_key_v0,
    },
    LegacyOffsetCommitValue: {
        0: decode_legacy_offset_commit_value_v0,
    },
    OffsetCommitKey: {
        0: decode_offset_commit_key_v0,
    },
    OffsetCommitValue: {
        0: decode_offset_commit_value_v0,
        1: decode_offset_commit_value_v1,
        2: decode_offset_commit_value_v2,
        3: decode_offset_commit_value_v3,
        4: decode_offset_commit_value_v4,
    },
    GroupMetadataKey: {
        0: decode_group_metadata_key_v0,
    },
    GroupMetadataValue: {
        0: decode_group_metadata_value_v0,
        1: decode_group_metadata_value_v1,
        2: decode_group_metadata_value_v2,
        3: decode_group_metadata_value_v3,
        4: decode_group_metadata_value_v4,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    LegacyOffsetCommitKey: {
        0: encode_legacy_offset_commit_key_v0,
    },
    LegacyOffsetCommitValue: {
        0: encode_legacy_offset_commit_value_v0,
    },
    OffsetCommitKey: {
        0: encode_offset_commit_key_v0,
    },
    OffsetCommitValue: {
        0: encode_offset_commit_value_v0,
        1: encode_offset_commit_value_v1,
        2: encode_offset_commit_value_v2,
        3: encode_offset_commit_value_v3,
        4: encode_offset_commit_value_v4,
    },
    GroupMetadataKey: {
        0: encode_group_metadata_key_v0,
    },
    GroupMetadataValue: {
        0: encode_group_metadata_value_v0,
        1: encode_group_metadata_value_v1,
        2: encode_group_metadata_value_v2,
        3: encode_group_metadata_value_v3,
        4: encode_group_metadata_value_v4,
    },
}
