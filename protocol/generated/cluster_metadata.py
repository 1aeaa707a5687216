"""Codecs of protocol/messages/cluster_metadata.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import (
    unpack_b,
    unpack_bB,
    unpack_bbB,
    unpack_iB,
    unpack_iiiB,
    unpack_iqqB,
    unpack_iuB,
    unpack_uB,
    unpack_ubB,
)
from protocol.messages.cluster_metadata import (
    AccessControlEntryRecord,
    ClientQuotaRecord,
    ConfigRecord,
    EntityData,
    PartitionRecord,
    ProducerIdsRecord,
    RemoveAccessControlEntryRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UserScramCredentialRecord,
)
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version, verify
from protocol.runs import RUNS_OF_TEXT, Field, Shape, alike
from protocol.wire import (
    DECODE_ERRORS,
    ENCODE_ERRORS,
    long_text,
    read_string_size,
    read_uvarint,
    skip_tags,
    write_string_size,
    write_uvarint,
)

SHAPE_1 = Shape("x", 1, Field("", 0, 1, False, ""), Field("", 0, 1, True, ""))
pack_ub = Struct(">16sb").pack
pack_ubB = Struct(">16sbB").pack
pack_ux = Struct(">16sx").pack
pack_BBB = Struct(">BBB").pack
pack_BBBb = Struct(">BBBb").pack
pack_BBb = Struct(">BBb").pack
pack_b = Struct(">b").pack
pack_bB = Struct(">bB").pack
pack_bbx = Struct(">bbx").pack
pack_bx = Struct(">bx").pack
pack_dzx = Struct(">d?x").pack
pack_i = Struct(">i").pack
pack_iu = Struct(">i16s").pack
pack_iuB = Struct(">i16sB").pack
pack_iii = Struct(">iii").pack
pack_iiiB = Struct(">iiiB").pack
pack_iqqx = Struct(">iqqx").pack
pack_ix = Struct(">ix").pack
unpack_dzB = Struct(">d?B").unpack_from


def decode_topic_record_v0(buf: bytes, pos: int, version: int = 0) -> tuple[TopicRecord, int]:
    start = pos
    n: int
    try:
        n = buf[pos]
        if 0 < n < 0x80:
            name = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("name")
            n -= 1
            here = pos
            pos = here + n
            name = long_text(buf, here, pos)
        topic_id, n = unpack_uB(buf, pos)
        pos += 17
        if n:
            pos = skip_tags(buf, pos - 1)
        return TopicRecord(name, topic_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, TopicRecord, version, buf, start, pos) from None


def encode_topic_record_v0(msg: TopicRecord, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.name.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        if len(msg.topic_id) != 16:
            raise BadField("topic_id", "a UUID has 16 bytes")
        out += pack_ux(msg.topic_id)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "TopicRecord", version) from error


def decode_partition_record_v0(buf: bytes, pos: int, version: int = 0) -> tuple[PartitionRecord, int]:
    start = pos
    n: int
    try:
        room = 45104 - 2 * len(buf)
        partition_id, topic_id, n = unpack_iuB(buf, pos)
        pos += 21
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        replicas: list[int]
        if n < 0:
            raise BadField("replicas")
        room -= n * 40
        if room < 0:
            room = verify(PartitionRecord, version, buf, start, pos + n)
        replicas = list(unpack_from(f">{n}i", buf, pos))
        pos += n * 4
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        isr: list[int]
        if n < 0:
            raise BadField("isr")
        room -= n * 40
        if room < 0:
            room = verify(PartitionRecord, version, buf, start, pos + n)
        isr = list(unpack_from(f">{n}i", buf, pos))
        pos += n * 4
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        removing_replicas: list[int]
        if n < 0:
            raise BadField("removing_replicas")
        room -= n * 40
        if room < 0:
            room = verify(PartitionRecord, version, buf, start, pos + n)
        removing_replicas = list(unpack_from(f">{n}i", buf, pos))
        pos += n * 4
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        adding_replicas: list[int]
        if n < 0:
            raise BadField("adding_replicas")
        room -= n * 40
        if room < 0:
            room = verify(PartitionRecord, version, buf, start, pos + n)
        adding_replicas = list(unpack_from(f">{n}i", buf, pos))
        pos += n * 4
        leader, leader_epoch, partition_epoch, n = unpack_iiiB(buf, pos)
        pos += 13
        leader_recovery_state: int = 0
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
                    (leader_recovery_state,) = unpack_b(buf, pos)
                    pos += 1
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return PartitionRecord(partition_id, topic_id, replicas, isr, removing_replicas, adding_replicas, leader, leader_recovery_state, leader_epoch, partition_epoch), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, PartitionRecord, version, buf, start, pos) from None


def decode_partition_record_v1(buf: bytes, pos: int, version: int = 1) -> tuple[PartitionRecord, int]:
    start = pos
    n: int
    try:
        room = 45104 - 2 * len(buf)
        partition_id, topic_id, n = unpack_iuB(buf, pos)
        pos += 21
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        replicas: list[int]
        if n < 0:
            raise BadField("replicas")
        room -= n * 40
        if room < 0:
            room = verify(PartitionRecord, version, buf, start, pos + n)
        replicas = list(unpack_from(f">{n}i", buf, pos))
        pos += n * 4
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        isr: list[int]
        if n < 0:
            raise BadField("isr")
        room -= n * 40
        if room < 0:
            room = verify(PartitionRecord, version, buf, start, pos + n)
        isr = list(unpack_from(f">{n}i", buf, pos))
        pos += n * 4
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        removing_replicas: list[int]
        if n < 0:
            raise BadField("removing_replicas")
        room -= n * 40
        if room < 0:
            room = verify(PartitionRecord, version, buf, start, pos + n)
        removing_replicas = list(unpack_from(f">{n}i", buf, pos))
        pos += n * 4
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        adding_replicas: list[int]
        if n < 0:
            raise BadField("adding_replicas")
        room -= n * 40
        if room < 0:
            room = verify(PartitionRecord, version, buf, start, pos + n)
        adding_replicas = list(unpack_from(f">{n}i", buf, pos))
        pos += n * 4
        leader, leader_epoch, partition_epoch, n = unpack_iiiB(buf, pos)
        pos += 13
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        directories: list[bytes]
        if n < 0:
            raise BadField("directories")
        room -= n * 16
        if room < 0:
            room = verify(PartitionRecord, version, buf, start, pos + n)
        directories = [buf[at : at + 16] for at in range(pos, pos + n * 16, 16)]
        pos += n * 16
        n = buf[pos]
        pos += 1
        leader_recovery_state: int = 0
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
                    (leader_recovery_state,) = unpack_b(buf, pos)
                    pos += 1
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return PartitionRecord(partition_id, topic_id, replicas, isr, removing_replicas, adding_replicas, leader, leader_recovery_state, leader_epoch, partition_epoch, directories), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, PartitionRecord, version, buf, start, pos) from None


def decode_partition_record_v2(buf: bytes, pos: int, version: int = 2) -> tuple[PartitionRecord, int]:
    start = pos
    n: int
    try:
        room = 45104 - 2 * len(buf)
        partition_id, topic_id, n = unpack_iuB(buf, pos)
        pos += 21
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        replicas: list[int]
        if n < 0:
            raise BadField("replicas")
        room -= n * 40
        if room < 0:
            room = verify(PartitionRecord, version, buf, start, pos + n)
        replicas = list(unpack_from(f">{n}i", buf, pos))
        pos += n * 4
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        isr: list[int]
        if n < 0:
            raise BadField("isr")
        room -= n * 40
        if room < 0:
            room = verify(PartitionRecord, version, buf, start, pos + n)
        isr = list(unpack_from(f">{n}i", buf, pos))
        pos += n * 4
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        removing_replicas: list[int]
        if n < 0:
            raise BadField("removing_replicas")
        room -= n * 40
        if room < 0:
            room = verify(PartitionRecord, version, buf, start, pos + n)
        removing_replicas = list(unpack_from(f">{n}i", buf, pos))
        pos += n * 4
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        adding_replicas: list[int]
        if n < 0:
            raise BadField("adding_replicas")
        room -= n * 40
        if room < 0:
            room = verify(PartitionRecord, version, buf, start, pos + n)
        adding_replicas = list(unpack_from(f">{n}i", buf, pos))
        pos += n * 4
        leader, leader_epoch, partition_epoch, n = unpack_iiiB(buf, pos)
        pos += 13
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        directories: list[bytes]
        if n < 0:
            raise BadField("directories")
        room -= n * 16
        if room < 0:
            room = verify(PartitionRecord, version, buf, start, pos + n)
        directories = [buf[at : at + 16] for at in range(pos, pos + n * 16, 16)]
        pos += n * 16
        n = buf[pos]
        pos += 1
        leader_recovery_state: int = 0
        eligible_leader_replicas: list[int] | None = None
        last_known_elr: list[int] | None = None
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
                    (leader_recovery_state,) = unpack_b(buf, pos)
                    pos += 1
                elif tag == 1:
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    if n < 0:
                        eligible_leader_replicas = None
                    else:
                        room -= n * 40
                        if room < 0:
                            room = verify(PartitionRecord, version, buf, start, pos + n)
                        eligible_leader_replicas = list(unpack_from(f">{n}i", buf, pos))
                        pos += n * 4
                elif tag == 2:
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    if n < 0:
                        last_known_elr = None
                    else:
                        room -= n * 40
                        if room < 0:
                            room = verify(PartitionRecord, version, buf, start, pos + n)
                        last_known_elr = list(unpack_from(f">{n}i", buf, pos))
                        pos += n * 4
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return PartitionRecord(partition_id, topic_id, replicas, isr, removing_replicas, adding_replicas, leader, leader_recovery_state, leader_epoch, partition_epoch, directories, eligible_leader_replicas, last_known_elr), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, PartitionRecord, version, buf, start, pos) from None


def encode_partition_record_v0(msg: PartitionRecord, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.directories:
            raise not_in_version("directories")
        if msg.eligible_leader_replicas is not None:
            raise not_in_version("eligible_leader_replicas")
        if msg.last_known_elr is not None:
            raise not_in_version("last_known_elr")
        if len(msg.topic_id) != 16:
            raise BadField("topic_id", "a UUID has 16 bytes")
        replicas = msg.replicas
        n = len(replicas) + 1
        if n < 0x80:
            out += pack_iuB(msg.partition_id, msg.topic_id, n)
        else:
            out += pack_iu(msg.partition_id, msg.topic_id)
            out += write_uvarint(n)
        out += pack_i(*replicas) if len(replicas) == 1 else pack(f">{len(replicas)}i", *replicas)
        isr = msg.isr
        n = len(isr) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += pack_i(*isr) if len(isr) == 1 else pack(f">{len(isr)}i", *isr)
        removing_replicas = msg.removing_replicas
        n = len(removing_replicas) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += pack_i(*removing_replicas) if len(removing_replicas) == 1 else pack(f">{len(removing_replicas)}i", *removing_replicas)
        adding_replicas = msg.adding_replicas
        n = len(adding_replicas) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += pack_i(*adding_replicas) if len(adding_replicas) == 1 else pack(f">{len(adding_replicas)}i", *adding_replicas)
        out += pack_iii(msg.leader, msg.leader_epoch, msg.partition_epoch)
        if msg.leader_recovery_state:
            out += pack_BBBb(1, 0, 1, msg.leader_recovery_state)
        else:
            out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "PartitionRecord", version) from error


def encode_partition_record_v1(msg: PartitionRecord, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        if msg.eligible_leader_replicas is not None:
            raise not_in_version("eligible_leader_replicas")
        if msg.last_known_elr is not None:
            raise not_in_version("last_known_elr")
        if len(msg.topic_id) != 16:
            raise BadField("topic_id", "a UUID has 16 bytes")
        replicas = msg.replicas
        n = len(replicas) + 1
        if n < 0x80:
            out += pack_iuB(msg.partition_id, msg.topic_id, n)
        else:
            out += pack_iu(msg.partition_id, msg.topic_id)
            out += write_uvarint(n)
        out += pack_i(*replicas) if len(replicas) == 1 else pack(f">{len(replicas)}i", *replicas)
        isr = msg.isr
        n = len(isr) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += pack_i(*isr) if len(isr) == 1 else pack(f">{len(isr)}i", *isr)
        removing_replicas = msg.removing_replicas
        n = len(removing_replicas) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += pack_i(*removing_replicas) if len(removing_replicas) == 1 else pack(f">{len(removing_replicas)}i", *removing_replicas)
        adding_replicas = msg.adding_replicas
        n = len(adding_replicas) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += pack_i(*adding_replicas) if len(adding_replicas) == 1 else pack(f">{len(adding_replicas)}i", *adding_replicas)
        directories = msg.directories
        n = len(directories) + 1
        if n < 0x80:
            out += pack_iiiB(msg.leader, msg.leader_epoch, msg.partition_epoch, n)
        else:
            out += pack_iii(msg.leader, msg.leader_epoch, msg.partition_epoch)
            out += write_uvarint(n)
        if any(len(item) != 16 for item in directories):
            raise BadField("directories", "a UUID has 16 bytes")
        out += b"".join(directories)
        if msg.leader_recovery_state:
            out += pack_BBBb(1, 0, 1, msg.leader_recovery_state)
        else:
            out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "PartitionRecord", version) from error


def encode_partition_record_v2(msg: PartitionRecord, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        if len(msg.topic_id) != 16:
            raise BadField("topic_id", "a UUID has 16 bytes")
        replicas = msg.replicas
        n = len(replicas) + 1
        if n < 0x80:
            out += pack_iuB(msg.partition_id, msg.topic_id, n)
        else:
            out += pack_iu(msg.partition_id, msg.topic_id)
            out += write_uvarint(n)
        out += pack_i(*replicas) if len(replicas) == 1 else pack(f">{len(replicas)}i", *replicas)
        isr = msg.isr
        n = len(isr) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += pack_i(*isr) if len(isr) == 1 else pack(f">{len(isr)}i", *isr)
        removing_replicas = msg.removing_replicas
        n = len(removing_replicas) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += pack_i(*removing_replicas) if len(removing_replicas) == 1 else pack(f">{len(removing_replicas)}i", *removing_replicas)
        adding_replicas = msg.adding_replicas
        n = len(adding_replicas) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += pack_i(*adding_replicas) if len(adding_replicas) == 1 else pack(f">{len(adding_replicas)}i", *adding_replicas)
        directories = msg.directories
        n = len(directories) + 1
        if n < 0x80:
            out += pack_iiiB(msg.leader, msg.leader_epoch, msg.partition_epoch, n)
        else:
            out += pack_iii(msg.leader, msg.leader_epoch, msg.partition_epoch)
            out += write_uvarint(n)
        if any(len(item) != 16 for item in directories):
            raise BadField("directories", "a UUID has 16 bytes")
        out += b"".join(directories)
        tag_count = 0
        tagged = bytearray()
        if msg.leader_recovery_state:
            tag_count += 1
            tagged += pack_BBb(0, 1, msg.leader_recovery_state)
        if msg.eligible_leader_replicas is not None:
            tag_count += 1
            eligible_leader_replicas = msg.eligible_leader_replicas
            n = len(eligible_leader_replicas) + 1
            if n <= 32:
                tagged += pack_BBB(1, 4 * n - 3, n)
            else:
                tagged.append(1)
                raw = write_uvarint(n)
                tagged += write_uvarint(len(raw) + (n - 1) * 4)
                tagged += raw
            tagged += pack_i(*eligible_leader_replicas) if len(eligible_leader_replicas) == 1 else pack(f">{len(eligible_leader_replicas)}i", *eligible_leader_replicas)
        if msg.last_known_elr is not None:
            tag_count += 1
            last_known_elr = msg.last_known_elr
            n = len(last_known_elr) + 1
            if n <= 32:
                tagged += pack_BBB(2, 4 * n - 3, n)
            else:
                tagged.append(2)
                raw = write_uvarint(n)
                tagged += write_uvarint(len(raw) + (n - 1) * 4)
                tagged += raw
            tagged += pack_i(*last_known_elr) if len(last_known_elr) == 1 else pack(f">{len(last_known_elr)}i", *last_known_elr)
        out.append(tag_count)
        out += tagged
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "PartitionRecord", version) from error


def decode_remove_topic_record_v0(buf: bytes, pos: int, version: int = 0) -> tuple[RemoveTopicRecord, int]:
    start = pos
    n: int
    try:
        topic_id, n = unpack_uB(buf, pos)
        pos += 17
        if n:
            pos = skip_tags(buf, pos - 1)
        return RemoveTopicRecord(topic_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, RemoveTopicRecord, version, buf, start, pos) from None


def encode_remove_topic_record_v0(msg: RemoveTopicRecord, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if len(msg.topic_id) != 16:
            raise BadField("topic_id", "a UUID has 16 bytes")
        out += pack_ux(msg.topic_id)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "RemoveTopicRecord", version) from error


def decode_config_record_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConfigRecord, int]:
    start = pos
    n: int
    try:
        resource_type, n = unpack_bB(buf, pos)
        if 0 < n < 0x80:
            resource_name = buf[pos + 2 : (pos := pos + 1 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 1)
            if n == 0:
                raise BadField("resource_name")
            n -= 1
            here = pos
            pos = here + n
            resource_name = long_text(buf, here, pos)
        n = buf[pos]
        if 0 < n < 0x80:
            name = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("name")
            n -= 1
            here = pos
            pos = here + n
            name = long_text(buf, here, pos)
        value_: str | None
        n = buf[pos]
        if not n:
            value_ = None
            pos += 1
        elif n == 1:
            value_ = ""
            pos += 1
        elif n < 0x80:
            value_ = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                value_ = long_text(buf, here, pos)
            else:
                value_ = None
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ConfigRecord(resource_type, resource_name, name, value_), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConfigRecord, version, buf, start, pos) from None


def encode_config_record_v0(msg: ConfigRecord, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.resource_name.encode()
        n = len(raw) + 1
        if n < 0x80:
            out += pack_bB(msg.resource_type, n)
        else:
            out += pack_b(msg.resource_type)
            out += write_string_size(n)
        out += raw
        raw = msg.name.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        text = msg.value
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
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConfigRecord", version) from error


def decode_producer_ids_record_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ProducerIdsRecord, int]:
    start = pos
    n: int
    try:
        broker_id, broker_epoch, next_producer_id, n = unpack_iqqB(buf, pos)
        pos += 21
        if n:
            pos = skip_tags(buf, pos - 1)
        return ProducerIdsRecord(broker_id, broker_epoch, next_producer_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ProducerIdsRecord, version, buf, start, pos) from None


def encode_producer_ids_record_v0(msg: ProducerIdsRecord, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        out += pack_iqqx(msg.broker_id, msg.broker_epoch, msg.next_producer_id)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ProducerIdsRecord", version) from error


def decode_user_scram_credential_record_v0(buf: bytes, pos: int, version: int = 0) -> tuple[UserScramCredentialRecord, int]:
    start = pos
    n: int
    try:
        n = buf[pos]
        if 0 < n < 0x80:
            name = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("name")
            n -= 1
            here = pos
            pos = here + n
            name = long_text(buf, here, pos)
        mechanism, n = unpack_bB(buf, pos)
        if 0 < n < 0x80:
            salt = buf[pos + 2 : (pos := pos + 1 + n)]
        else:
            n, pos = read_uvarint(buf, pos + 1)
            if n == 0:
                raise BadField("salt")
            n -= 1
            here = pos
            pos = here + n
            salt = buf[here:pos]
        n = buf[pos]
        if 0 < n < 0x80:
            stored_key = buf[pos + 1 : (pos := pos + n)]
        else:
            n, pos = read_uvarint(buf, pos)
            if n == 0:
                raise BadField("stored_key")
            n -= 1
            here = pos
            pos = here + n
            stored_key = buf[here:pos]
        n = buf[pos]
        if 0 < n < 0x80:
            server_key = buf[pos + 1 : (pos := pos + n)]
        else:
            n, pos = read_uvarint(buf, pos)
            if n == 0:
                raise BadField("server_key")
            n -= 1
            here = pos
            pos = here + n
            server_key = buf[here:pos]
        iterations, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos - 1)
        return UserScramCredentialRecord(name, mechanism, salt, stored_key, server_key, iterations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, UserScramCredentialRecord, version, buf, start, pos) from None


def encode_user_scram_credential_record_v0(msg: UserScramCredentialRecord, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.name.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        raw = msg.salt
        n = len(raw) + 1
        if n < 0x80:
            out += pack_bB(msg.mechanism, n)
        else:
            out += pack_b(msg.mechanism)
            out += write_uvarint(n)
        out += raw
        raw = msg.stored_key
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += raw
        raw = msg.server_key
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += raw
        out += pack_ix(msg.iterations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "UserScramCredentialRecord", version) from error


def decode_remove_user_scram_credential_record_v0(buf: bytes, pos: int, version: int = 0) -> tuple[RemoveUserScramCredentialRecord, int]:
    start = pos
    n: int
    try:
        n = buf[pos]
        if 0 < n < 0x80:
            name = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("name")
            n -= 1
            here = pos
            pos = here + n
            name = long_text(buf, here, pos)
        mechanism, n = unpack_bB(buf, pos)
        pos += 2
        if n:
            pos = skip_tags(buf, pos - 1)
        return RemoveUserScramCredentialRecord(name, mechanism), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, RemoveUserScramCredentialRecord, version, buf, start, pos) from None


def encode_remove_user_scram_credential_record_v0(msg: RemoveUserScramCredentialRecord, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.name.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        out += pack_bx(msg.mechanism)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "RemoveUserScramCredentialRecord", version) from error


def decode_access_control_entry_record_v0(buf: bytes, pos: int, version: int = 0) -> tuple[AccessControlEntryRecord, int]:
    start = pos
    n: int
    try:
        id, resource_type, n = unpack_ubB(buf, pos)
        if 0 < n < 0x80:
            resource_name = buf[pos + 18 : (pos := pos + 17 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 17)
            if n == 0:
                raise BadField("resource_name")
            n -= 1
            here = pos
            pos = here + n
            resource_name = long_text(buf, here, pos)
        pattern_type, n = unpack_bB(buf, pos)
        if 0 < n < 0x80:
            principal = buf[pos + 2 : (pos := pos + 1 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 1)
            if n == 0:
                raise BadField("principal")
            n -= 1
            here = pos
            pos = here + n
            principal = long_text(buf, here, pos)
        n = buf[pos]
        if 0 < n < 0x80:
            host = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("host")
            n -= 1
            here = pos
            pos = here + n
            host = long_text(buf, here, pos)
        operation, permission_type, n = unpack_bbB(buf, pos)
        pos += 3
        if n:
            pos = skip_tags(buf, pos - 1)
        return AccessControlEntryRecord(id, resource_type, resource_name, pattern_type, principal, host, operation, permission_type), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AccessControlEntryRecord, version, buf, start, pos) from None


def encode_access_control_entry_record_v0(msg: AccessControlEntryRecord, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if len(msg.id) != 16:
            raise BadField("id", "a UUID has 16 bytes")
        raw = msg.resource_name.encode()
        n = len(raw) + 1
        if n < 0x80:
            out += pack_ubB(msg.id, msg.resource_type, n)
        else:
            out += pack_ub(msg.id, msg.resource_type)
            out += write_string_size(n)
        out += raw
        raw = msg.principal.encode()
        n = len(raw) + 1
        if n < 0x80:
            out += pack_bB(msg.pattern_type, n)
        else:
            out += pack_b(msg.pattern_type)
            out += write_string_size(n)
        out += raw
        raw = msg.host.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        out += pack_bbx(msg.operation, msg.permission_type)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AccessControlEntryRecord", version) from error


def decode_remove_access_control_entry_record_v0(buf: bytes, pos: int, version: int = 0) -> tuple[RemoveAccessControlEntryRecord, int]:
    start = pos
    n: int
    try:
        id, n = unpack_uB(buf, pos)
        pos += 17
        if n:
            pos = skip_tags(buf, pos - 1)
        return RemoveAccessControlEntryRecord(id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, RemoveAccessControlEntryRecord, version, buf, start, pos) from None


def encode_remove_access_control_entry_record_v0(msg: RemoveAccessControlEntryRecord, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if len(msg.id) != 16:
            raise BadField("id", "a UUID has 16 bytes")
        out += pack_ux(msg.id)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "RemoveAccessControlEntryRecord", version) from error


def decode_client_quota_record_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ClientQuotaRecord, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        entity: list[EntityData]
        if n < 0:
            raise BadField("entity")
        room -= n * 204
        if room < 0:
            room = verify(ClientQuotaRecord, version, buf, start, pos + n)
        entity = []
        entity_left, entity_step = n, 8
        while entity_left:
            entity_count = entity_left
            if entity_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, entity_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    entity_left -= n
                    entity += [EntityData(entity_type.decode(), entity_name.decode() if entity_name else absent[1]) for entity_type, entity_name in rows]
                    continue
                if entity_step < entity_left:
                    entity_count = entity_step
                entity_step *= 2
            entity_left -= entity_count
            for _ in range(entity_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    entity_entity_type = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("entity.entity_type")
                    n -= 1
                    here = pos
                    pos = here + n
                    entity_entity_type = long_text(buf, here, pos)
                entity_entity_name: str | None
                n = buf[pos]
                if not n:
                    entity_entity_name = None
                    pos += 1
                elif n == 1:
                    entity_entity_name = ""
                    pos += 1
                elif n < 0x80:
                    entity_entity_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        entity_entity_name = long_text(buf, here, pos)
                    else:
                        entity_entity_name = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                entity.append(EntityData(entity_entity_type, entity_entity_name))
        n = buf[pos]
        if 0 < n < 0x80:
            key = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("key")
            n -= 1
            here = pos
            pos = here + n
            key = long_text(buf, here, pos)
        value_, remove, n = unpack_dzB(buf, pos)
        pos += 10
        if n:
            pos = skip_tags(buf, pos - 1)
        return ClientQuotaRecord(entity, key, value_, remove), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ClientQuotaRecord, version, buf, start, pos) from None


def encode_client_quota_record_v0(msg: ClientQuotaRecord, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        entity = msg.entity
        n = len(entity) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for entity_item in entity:
            raw = entity_item.entity_type.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            text = entity_item.entity_name
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
            out.append(0)
        raw = msg.key.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        out += pack_dzx(msg.value, msg.remove)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ClientQuotaRecord", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    TopicRecord: {
        0: decode_topic_record_v0,
    },
    PartitionRecord: {
        0: decode_partition_record_v0,
        1: decode_partition_record_v1,
        2: decode_partition_record_v2,
    },
    RemoveTopicRecord: {
        0: decode_remove_topic_record_v0,
    },
    ConfigRecord: {
        0: decode_config_record_v0,
    },
    ProducerIdsRecord: {
        0: decode_producer_ids_record_v0,
    },
    UserScramCredentialRecord: {
        0: decode_user_scram_credential_record_v0,
    },
    RemoveUserScramCredentialRecord: {
        0: decode_remove_user_scram_credential_record_v0,
    },
    AccessControlEntryRecord: {
        0: decode_access_control_entry_record_v0,
    },
    RemoveAccessControlEntryRecord: {
        0: decode_remove_access_control_entry_record_v0,
    },
    ClientQuotaRecord: {
        0: decode_client_quota_record_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    TopicRecord: {
        0: encode_topic_record_v0,
    },
    PartitionRecord: {
        0: encode_partition_record_v0,
        1: encode_partition_record_v1,
        2: encode_partition_record_v2,
    },
    RemoveTopicRecord: {
        0: encode_remove_topic_record_v0,
    },
    ConfigRecord: {
        0: encode_config_record_v0,
    },
    ProducerIdsRecord: {
        0: encode_producer_ids_record_v0,
    },
    UserScramCredentialRecord: {
        0: encode_user_scram_credential_record_v0,
    },
    RemoveUserScramCredentialRecord: {
        0: encode_remove_user_scram_credential_record_v0,
    },
    AccessControlEntryRecord: {
        0: encode_access_control_entry_record_v0,
    },
    RemoveAccessControlEntryRecord: {
        0: encode_remove_access_control_entry_record_v0,
    },
    ClientQuotaRecord: {
        0: encode_client_quota_record_v0,
    },
}
