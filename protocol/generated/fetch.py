"""Codecs of protocol/messages/fetch.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import ZERO_UUID, Message
from protocol.generated.layouts import (
    unpack_h,
    unpack_i,
    unpack_iB,
    unpack_ihiB,
    unpack_ihii,
    unpack_ihqqi,
    unpack_ihqqqB,
    unpack_ihqqqi,
    unpack_ii,
    unpack_iiB,
    unpack_iiibiiB,
    unpack_iiiibi,
    unpack_iiiibiiB,
    unpack_iiiibiii,
    unpack_iiqiqiB,
    unpack_iqB,
    unpack_q,
    unpack_qiB,
    unpack_qqB,
    unpack_u,
    unpack_uB,
)
from protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    FetchableTopicResponse,
    ForgottenTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ReplicaState,
    SnapshotId,
)
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version, verify
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

SHAPE_1 = Shape("x", 1, Field("i", 4, 1, False, ""), Field("i", 4, 1, True, ""))
pack_u = Struct(">16s").pack
pack_uB = Struct(">16sB").pack
pack_BB = Struct(">BB").pack
pack_BBu = Struct(">BB16s").pack
pack_BBBu = Struct(">BBB16s").pack
pack_BBq = Struct(">BBq").pack
pack_h = Struct(">h").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ihi = Struct(">ihi").pack
pack_ihiB = Struct(">ihiB").pack
pack_ihii = Struct(">ihii").pack
pack_ihqqi = Struct(">ihqqi").pack
pack_ihqqq = Struct(">ihqqq").pack
pack_ihqqqB = Struct(">ihqqqB").pack
pack_ihqqqi = Struct(">ihqqqi").pack
pack_ihqqqx = Struct(">ihqqqx").pack
pack_ii = Struct(">ii").pack
pack_iiibii = Struct(">iiibii").pack
pack_iiibiiB = Struct(">iiibiiB").pack
pack_iiiibi = Struct(">iiiibi").pack
pack_iiiibii = Struct(">iiiibii").pack
pack_iiiibiiB = Struct(">iiiibiiB").pack
pack_iiiibiii = Struct(">iiiibiii").pack
pack_iiqiqi = Struct(">iiqiqi").pack
pack_iiqiqix = Struct(">iiqiqix").pack
pack_iiqqi = Struct(">iiqqi").pack
pack_iix = Struct(">iix").pack
pack_iqi = Struct(">iqi").pack
pack_iqqi = Struct(">iqqi").pack
pack_iqx = Struct(">iqx").pack
pack_qix = Struct(">qix").pack
pack_qq = Struct(">qq").pack
pack_qqx = Struct(">qqx").pack
rows_iiqiqix = Struct(">iiqiqix").iter_unpack
rows_iiqqi = Struct(">iiqqi").iter_unpack
rows_iqi = Struct(">iqi").iter_unpack
rows_iqqi = Struct(">iqqi").iter_unpack
rows_qq = Struct(">qq").iter_unpack
rows_qqx = Struct(">qqx").iter_unpack


def decode_fetch_request_v4(buf: bytes, pos: int, version: int = 4) -> tuple[FetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45568 - 2 * len(buf)
        limit = 16777216
        replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, n = unpack_iiiibi(buf, pos)
        pos += 21
        topics: list[FetchTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 208
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 208), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.topic")
            if n < 0x80:
                topics_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            topics_partitions: list[FetchPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 152
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 152), 0
            end = pos + n * 16
            topics_partitions = [FetchPartition(partition, -1, fetch_offset, -1, -1, partition_max_bytes) for partition, fetch_offset, partition_max_bytes in rows_iqi(buf[pos:end])]
            pos = end
            topics.append(FetchTopic(topics_topic, ZERO_UUID, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return FetchRequest(None, replica_id, ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, 0, -1, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchRequest, version, buf, start, pos) from None


def decode_fetch_request_v5(buf: bytes, pos: int, version: int = 5) -> tuple[FetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45568 - 2 * len(buf)
        limit = 16777216
        replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, n = unpack_iiiibi(buf, pos)
        pos += 21
        topics: list[FetchTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 208
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 208), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.topic")
            if n < 0x80:
                topics_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            topics_partitions: list[FetchPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 152
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 152), 0
            end = pos + n * 24
            topics_partitions = [FetchPartition(partition, -1, fetch_offset, -1, log_start_offset, partition_max_bytes) for partition, fetch_offset, log_start_offset, partition_max_bytes in rows_iqqi(buf[pos:end])]
            pos = end
            topics.append(FetchTopic(topics_topic, ZERO_UUID, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return FetchRequest(None, replica_id, ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, 0, -1, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchRequest, version, buf, start, pos) from None


decode_fetch_request_v6 = at_version(decode_fetch_request_v5, 6)


def decode_fetch_request_v7(buf: bytes, pos: int, version: int = 7) -> tuple[FetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45504 - 2 * len(buf)
        limit = 16777216
        replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, n = unpack_iiiibiii(buf, pos)
        pos += 29
        topics: list[FetchTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 208
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 208), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.topic")
            if n < 0x80:
                topics_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            topics_partitions: list[FetchPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 152
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 152), 0
            end = pos + n * 24
            topics_partitions = [FetchPartition(partition, -1, fetch_offset, -1, log_start_offset, partition_max_bytes) for partition, fetch_offset, log_start_offset, partition_max_bytes in rows_iqqi(buf[pos:end])]
            pos = end
            topics.append(FetchTopic(topics_topic, ZERO_UUID, topics_partitions))
        (n,) = unpack_i(buf, pos)
        pos += 4
        forgotten_topics_data: list[ForgottenTopic]
        if n < 0:
            raise BadField("forgotten_topics_data")
        room -= n * 208
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 208), 0
        forgotten_topics_data = []
        forgotten_topics_data_count = n
        for _ in range(forgotten_topics_data_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("forgotten_topics_data.topic")
            if n < 0x80:
                forgotten_topics_data_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                forgotten_topics_data_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            forgotten_topics_data_partitions: list[int]
            if n < 0:
                raise BadField("forgotten_topics_data.partitions")
            room -= n * 40
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 40), 0
            forgotten_topics_data_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            forgotten_topics_data.append(ForgottenTopic(forgotten_topics_data_topic, ZERO_UUID, forgotten_topics_data_partitions))
        if pos > len(buf):
            raise IndexError
        return FetchRequest(None, replica_id, ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchRequest, version, buf, start, pos) from None


decode_fetch_request_v8 = at_version(decode_fetch_request_v7, 8)


def decode_fetch_request_v9(buf: bytes, pos: int, version: int = 9) -> tuple[FetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45504 - 2 * len(buf)
        limit = 16777216
        replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, n = unpack_iiiibiii(buf, pos)
        pos += 29
        topics: list[FetchTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 208
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 208), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.topic")
            if n < 0x80:
                topics_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            topics_partitions: list[FetchPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 168
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 168), 0
            end = pos + n * 28
            topics_partitions = [FetchPartition(partition, current_leader_epoch, fetch_offset, -1, log_start_offset, partition_max_bytes) for partition, current_leader_epoch, fetch_offset, log_start_offset, partition_max_bytes in rows_iiqqi(buf[pos:end])]
            pos = end
            topics.append(FetchTopic(topics_topic, ZERO_UUID, topics_partitions))
        (n,) = unpack_i(buf, pos)
        pos += 4
        forgotten_topics_data: list[ForgottenTopic]
        if n < 0:
            raise BadField("forgotten_topics_data")
        room -= n * 208
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 208), 0
        forgotten_topics_data = []
        forgotten_topics_data_count = n
        for _ in range(forgotten_topics_data_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("forgotten_topics_data.topic")
            if n < 0x80:
                forgotten_topics_data_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                forgotten_topics_data_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            forgotten_topics_data_partitions: list[int]
            if n < 0:
                raise BadField("forgotten_topics_data.partitions")
            room -= n * 40
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 40), 0
            forgotten_topics_data_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            forgotten_topics_data.append(ForgottenTopic(forgotten_topics_data_topic, ZERO_UUID, forgotten_topics_data_partitions))
        if pos > len(buf):
            raise IndexError
        return FetchRequest(None, replica_id, ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchRequest, version, buf, start, pos) from None


decode_fetch_request_v10 = at_version(decode_fetch_request_v9, 10)


def decode_fetch_request_v11(buf: bytes, pos: int, version: int = 11) -> tuple[FetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45424 - 2 * len(buf)
        limit = 16777216
        replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, n = unpack_iiiibiii(buf, pos)
        pos += 29
        topics: list[FetchTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 208
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 208), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.topic")
            if n < 0x80:
                topics_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            topics_partitions: list[FetchPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 168
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 168), 0
            end = pos + n * 28
            topics_partitions = [FetchPartition(partition, current_leader_epoch, fetch_offset, -1, log_start_offset, partition_max_bytes) for partition, current_leader_epoch, fetch_offset, log_start_offset, partition_max_bytes in rows_iiqqi(buf[pos:end])]
            pos = end
            topics.append(FetchTopic(topics_topic, ZERO_UUID, topics_partitions))
        (n,) = unpack_i(buf, pos)
        pos += 4
        forgotten_topics_data: list[ForgottenTopic]
        if n < 0:
            raise BadField("forgotten_topics_data")
        room -= n * 208
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 208), 0
        forgotten_topics_data = []
        forgotten_topics_data_count = n
        for _ in range(forgotten_topics_data_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("forgotten_topics_data.topic")
            if n < 0x80:
                forgotten_topics_data_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                forgotten_topics_data_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            forgotten_topics_data_partitions: list[int]
            if n < 0:
                raise BadField("forgotten_topics_data.partitions")
            room -= n * 40
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 40), 0
            forgotten_topics_data_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            forgotten_topics_data.append(ForgottenTopic(forgotten_topics_data_topic, ZERO_UUID, forgotten_topics_data_partitions))
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("rack_id")
        if n < 0x80:
            rack_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            rack_id = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return FetchRequest(None, replica_id, ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchRequest, version, buf, start, pos) from None


def decode_fetch_request_v12(buf: bytes, pos: int, version: int = 12) -> tuple[FetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45344 - 2 * len(buf)
        limit = 16777216
        replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, n = unpack_iiiibiiB(buf, pos)
        pos += 26
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[FetchTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 220
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 220), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            n = buf[pos]
            if 0 < n < 0x80:
                topics_topic = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("topics.topic")
                n -= 1
                here = pos
                pos = here + n
                topics_topic = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[FetchPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 180
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 180), 0
            end = pos + n * 33
            if buf[pos + 32 : end : 33].count(0) == n:
                topics_partitions = list(starmap(FetchPartition, rows_iiqiqix(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_partition, topics_partitions_current_leader_epoch, topics_partitions_fetch_offset, topics_partitions_last_fetched_epoch, topics_partitions_log_start_offset, topics_partitions_partition_max_bytes, n = unpack_iiqiqiB(buf, pos)
                    pos += 33
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(FetchPartition(topics_partitions_partition, topics_partitions_current_leader_epoch, topics_partitions_fetch_offset, topics_partitions_last_fetched_epoch, topics_partitions_log_start_offset, topics_partitions_partition_max_bytes))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(FetchTopic(topics_topic, ZERO_UUID, topics_partitions))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        forgotten_topics_data: list[ForgottenTopic]
        if n < 0:
            raise BadField("forgotten_topics_data")
        room -= n * 220
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 220), 0
        forgotten_topics_data = []
        forgotten_topics_data_count = n
        for _ in range(forgotten_topics_data_count):
            n = buf[pos]
            if 0 < n < 0x80:
                forgotten_topics_data_topic = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("forgotten_topics_data.topic")
                n -= 1
                here = pos
                pos = here + n
                forgotten_topics_data_topic = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            forgotten_topics_data_partitions: list[int]
            if n < 0:
                raise BadField("forgotten_topics_data.partitions")
            room -= n * 40
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 40), 0
            forgotten_topics_data_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            forgotten_topics_data.append(ForgottenTopic(forgotten_topics_data_topic, ZERO_UUID, forgotten_topics_data_partitions))
        n = buf[pos]
        if 0 < n < 0x80:
            rack_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("rack_id")
            n -= 1
            here = pos
            pos = here + n
            rack_id = long_text(buf, here, pos)
        n = buf[pos]
        pos += 1
        cluster_id: str | None = None
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
                    n = buf[pos]
                    if not n:
                        cluster_id = None
                        pos += 1
                    elif n == 1:
                        cluster_id = ""
                        pos += 1
                    elif n < 0x80:
                        cluster_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            cluster_id = long_text(buf, here, pos)
                        else:
                            cluster_id = None
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return FetchRequest(cluster_id, replica_id, ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchRequest, version, buf, start, pos) from None


def decode_fetch_request_v13(buf: bytes, pos: int, version: int = 13) -> tuple[FetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45344 - 2 * len(buf)
        limit = 16777216
        replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, n = unpack_iiiibiiB(buf, pos)
        pos += 26
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[FetchTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 128
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 128), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[FetchPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 180
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 180), 0
            end = pos + n * 33
            if buf[pos + 32 : end : 33].count(0) == n:
                topics_partitions = list(starmap(FetchPartition, rows_iiqiqix(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_partition, topics_partitions_current_leader_epoch, topics_partitions_fetch_offset, topics_partitions_last_fetched_epoch, topics_partitions_log_start_offset, topics_partitions_partition_max_bytes, n = unpack_iiqiqiB(buf, pos)
                    pos += 33
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(FetchPartition(topics_partitions_partition, topics_partitions_current_leader_epoch, topics_partitions_fetch_offset, topics_partitions_last_fetched_epoch, topics_partitions_log_start_offset, topics_partitions_partition_max_bytes))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(FetchTopic("", topics_topic_id, topics_partitions))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        forgotten_topics_data: list[ForgottenTopic]
        if n < 0:
            raise BadField("forgotten_topics_data")
        room -= n * 128
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 128), 0
        forgotten_topics_data = []
        forgotten_topics_data_count = n
        for _ in range(forgotten_topics_data_count):
            forgotten_topics_data_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            forgotten_topics_data_partitions: list[int]
            if n < 0:
                raise BadField("forgotten_topics_data.partitions")
            room -= n * 40
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 40), 0
            forgotten_topics_data_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            forgotten_topics_data.append(ForgottenTopic("", forgotten_topics_data_topic_id, forgotten_topics_data_partitions))
        n = buf[pos]
        if 0 < n < 0x80:
            rack_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("rack_id")
            n -= 1
            here = pos
            pos = here + n
            rack_id = long_text(buf, here, pos)
        n = buf[pos]
        pos += 1
        cluster_id: str | None = None
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
                    n = buf[pos]
                    if not n:
                        cluster_id = None
                        pos += 1
                    elif n == 1:
                        cluster_id = ""
                        pos += 1
                    elif n < 0x80:
                        cluster_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            cluster_id = long_text(buf, here, pos)
                        else:
                            cluster_id = None
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return FetchRequest(cluster_id, replica_id, ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchRequest, version, buf, start, pos) from None


decode_fetch_request_v14 = at_version(decode_fetch_request_v13, 14)


def decode_fetch_request_v15(buf: bytes, pos: int, version: int = 15) -> tuple[FetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45264 - 2 * len(buf)
        limit = 16777216
        max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, n = unpack_iiibiiB(buf, pos)
        pos += 22
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[FetchTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 128
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 128), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[FetchPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 180
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 180), 0
            end = pos + n * 33
            if buf[pos + 32 : end : 33].count(0) == n:
                topics_partitions = list(starmap(FetchPartition, rows_iiqiqix(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_partition, topics_partitions_current_leader_epoch, topics_partitions_fetch_offset, topics_partitions_last_fetched_epoch, topics_partitions_log_start_offset, topics_partitions_partition_max_bytes, n = unpack_iiqiqiB(buf, pos)
                    pos += 33
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(FetchPartition(topics_partitions_partition, topics_partitions_current_leader_epoch, topics_partitions_fetch_offset, topics_partitions_last_fetched_epoch, topics_partitions_log_start_offset, topics_partitions_partition_max_bytes))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(FetchTopic("", topics_topic_id, topics_partitions))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        forgotten_topics_data: list[ForgottenTopic]
        if n < 0:
            raise BadField("forgotten_topics_data")
        room -= n * 128
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 128), 0
        forgotten_topics_data = []
        forgotten_topics_data_count = n
        for _ in range(forgotten_topics_data_count):
            forgotten_topics_data_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            forgotten_topics_data_partitions: list[int]
            if n < 0:
                raise BadField("forgotten_topics_data.partitions")
            room -= n * 40
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 40), 0
            forgotten_topics_data_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            forgotten_topics_data.append(ForgottenTopic("", forgotten_topics_data_topic_id, forgotten_topics_data_partitions))
        n = buf[pos]
        if 0 < n < 0x80:
            rack_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("rack_id")
            n -= 1
            here = pos
            pos = here + n
            rack_id = long_text(buf, here, pos)
        n = buf[pos]
        pos += 1
        cluster_id: str | None = None
        replica_state: ReplicaState = ReplicaState()
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
                    n = buf[pos]
                    if not n:
                        cluster_id = None
                        pos += 1
                    elif n == 1:
                        cluster_id = ""
                        pos += 1
                    elif n < 0x80:
                        cluster_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            cluster_id = long_text(buf, here, pos)
                        else:
                            cluster_id = None
                elif tag == 1:
                    replica_state_replica_id, replica_state_replica_epoch, n = unpack_iqB(buf, pos)
                    pos += 13
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    replica_state = ReplicaState(replica_state_replica_id, replica_state_replica_epoch)
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return FetchRequest(cluster_id, -1, replica_state, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchRequest, version, buf, start, pos) from None


decode_fetch_request_v16 = at_version(decode_fetch_request_v15, 16)


def decode_fetch_request_v17(buf: bytes, pos: int, version: int = 17) -> tuple[FetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45264 - 2 * len(buf)
        limit = 16777216
        max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, n = unpack_iiibiiB(buf, pos)
        pos += 22
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[FetchTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 128
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 128), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[FetchPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 244
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 244), 0
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_partition, topics_partitions_current_leader_epoch, topics_partitions_fetch_offset, topics_partitions_last_fetched_epoch, topics_partitions_log_start_offset, topics_partitions_partition_max_bytes, n = unpack_iiqiqiB(buf, pos)
                pos += 33
                topics_partitions_replica_directory_id: bytes = ZERO_UUID
                if n:
                    n, pos = read_uvarint(buf, pos - 1)
                    topics_partitions_tag_count = n
                    for _ in range(topics_partitions_tag_count):
                        tag, pos = read_uvarint(buf, pos)
                        n, pos = read_uvarint(buf, pos)
                        topics_partitions_tag_end = pos + n
                        if topics_partitions_tag_end > len(buf):
                            raise IndexError
                        if tag == 0:
                            (topics_partitions_replica_directory_id,) = unpack_u(buf, pos)
                            pos += 16
                        else:
                            pos = topics_partitions_tag_end
                        if pos != topics_partitions_tag_end:
                            raise BadField("topics.partitions.tagged fields", "a size is not that of its content")
                topics_partitions.append(FetchPartition(topics_partitions_partition, topics_partitions_current_leader_epoch, topics_partitions_fetch_offset, topics_partitions_last_fetched_epoch, topics_partitions_log_start_offset, topics_partitions_partition_max_bytes, topics_partitions_replica_directory_id))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(FetchTopic("", topics_topic_id, topics_partitions))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        forgotten_topics_data: list[ForgottenTopic]
        if n < 0:
            raise BadField("forgotten_topics_data")
        room -= n * 128
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 128), 0
        forgotten_topics_data = []
        forgotten_topics_data_count = n
        for _ in range(forgotten_topics_data_count):
            forgotten_topics_data_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            forgotten_topics_data_partitions: list[int]
            if n < 0:
                raise BadField("forgotten_topics_data.partitions")
            room -= n * 40
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 40), 0
            forgotten_topics_data_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            forgotten_topics_data.append(ForgottenTopic("", forgotten_topics_data_topic_id, forgotten_topics_data_partitions))
        n = buf[pos]
        if 0 < n < 0x80:
            rack_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("rack_id")
            n -= 1
            here = pos
            pos = here + n
            rack_id = long_text(buf, here, pos)
        n = buf[pos]
        pos += 1
        cluster_id: str | None = None
        replica_state: ReplicaState = ReplicaState()
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
                    n = buf[pos]
                    if not n:
                        cluster_id = None
                        pos += 1
                    elif n == 1:
                        cluster_id = ""
                        pos += 1
                    elif n < 0x80:
                        cluster_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            cluster_id = long_text(buf, here, pos)
                        else:
                            cluster_id = None
                elif tag == 1:
                    replica_state_replica_id, replica_state_replica_epoch, n = unpack_iqB(buf, pos)
                    pos += 13
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    replica_state = ReplicaState(replica_state_replica_id, replica_state_replica_epoch)
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return FetchRequest(cluster_id, -1, replica_state, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchRequest, version, buf, start, pos) from None


def decode_fetch_request_v18(buf: bytes, pos: int, version: int = 18) -> tuple[FetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45264 - 2 * len(buf)
        limit = 16777216
        max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, n = unpack_iiibiiB(buf, pos)
        pos += 22
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[FetchTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 128
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 128), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[FetchPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 276
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 276), 0
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_partition, topics_partitions_current_leader_epoch, topics_partitions_fetch_offset, topics_partitions_last_fetched_epoch, topics_partitions_log_start_offset, topics_partitions_partition_max_bytes, n = unpack_iiqiqiB(buf, pos)
                pos += 33
                topics_partitions_replica_directory_id: bytes = ZERO_UUID
                topics_partitions_high_watermark: int = 9223372036854775807
                if n:
                    n, pos = read_uvarint(buf, pos - 1)
                    topics_partitions_tag_count = n
                    for _ in range(topics_partitions_tag_count):
                        tag, pos = read_uvarint(buf, pos)
                        n, pos = read_uvarint(buf, pos)
                        topics_partitions_tag_end = pos + n
                        if topics_partitions_tag_end > len(buf):
                            raise IndexError
                        if tag == 0:
                            (topics_partitions_replica_directory_id,) = unpack_u(buf, pos)
                            pos += 16
                        elif tag == 1:
                            (topics_partitions_high_watermark,) = unpack_q(buf, pos)
                            pos += 8
                        else:
                            pos = topics_partitions_tag_end
                        if pos != topics_partitions_tag_end:
                            raise BadField("topics.partitions.tagged fields", "a size is not that of its content")
                topics_partitions.append(FetchPartition(topics_partitions_partition, topics_partitions_current_leader_epoch, topics_partitions_fetch_offset, topics_partitions_last_fetched_epoch, topics_partitions_log_start_offset, topics_partitions_partition_max_bytes, topics_partitions_replica_directory_id, topics_partitions_high_watermark))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(FetchTopic("", topics_topic_id, topics_partitions))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        forgotten_topics_data: list[ForgottenTopic]
        if n < 0:
            raise BadField("forgotten_topics_data")
        room -= n * 128
        if room < 0:
            room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 128), 0
        forgotten_topics_data = []
        forgotten_topics_data_count = n
        for _ in range(forgotten_topics_data_count):
            forgotten_topics_data_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            forgotten_topics_data_partitions: list[int]
            if n < 0:
                raise BadField("forgotten_topics_data.partitions")
            room -= n * 40
            if room < 0:
                room, limit = verify(FetchRequest, version, buf, start, pos + n, limit - n * 40), 0
            forgotten_topics_data_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            forgotten_topics_data.append(ForgottenTopic("", forgotten_topics_data_topic_id, forgotten_topics_data_partitions))
        n = buf[pos]
        if 0 < n < 0x80:
            rack_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("rack_id")
            n -= 1
            here = pos
            pos = here + n
            rack_id = long_text(buf, here, pos)
        n = buf[pos]
        pos += 1
        cluster_id: str | None = None
        replica_state: ReplicaState = ReplicaState()
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
                    n = buf[pos]
                    if not n:
                        cluster_id = None
                        pos += 1
                    elif n == 1:
                        cluster_id = ""
                        pos += 1
                    elif n < 0x80:
                        cluster_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            cluster_id = long_text(buf, here, pos)
                        else:
                            cluster_id = None
                elif tag == 1:
                    replica_state_replica_id, replica_state_replica_epoch, n = unpack_iqB(buf, pos)
                    pos += 13
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    replica_state = ReplicaState(replica_state_replica_id, replica_state_replica_epoch)
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return FetchRequest(cluster_id, -1, replica_state, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchRequest, version, buf, start, pos) from None


def encode_fetch_request_v4(msg: FetchRequest, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        if msg.replica_state != ReplicaState():
            raise not_in_version("replica_state")
        if msg.forgotten_topics_data:
            raise not_in_version("forgotten_topics_data")
        topics = msg.topics
        out += pack_iiiibi(msg.replica_id, msg.max_wait_ms, msg.min_bytes, msg.max_bytes, msg.isolation_level, len(topics))
        for topics_item in topics:
            raw = topics_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                if topics_partitions_item.last_fetched_epoch != -1:
                    raise not_in_version("topics.partitions.last_fetched_epoch")
                out += pack_iqi(topics_partitions_item.partition, topics_partitions_item.fetch_offset, topics_partitions_item.partition_max_bytes)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchRequest", version) from error


def encode_fetch_request_v5(msg: FetchRequest, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        if msg.replica_state != ReplicaState():
            raise not_in_version("replica_state")
        if msg.forgotten_topics_data:
            raise not_in_version("forgotten_topics_data")
        topics = msg.topics
        out += pack_iiiibi(msg.replica_id, msg.max_wait_ms, msg.min_bytes, msg.max_bytes, msg.isolation_level, len(topics))
        for topics_item in topics:
            raw = topics_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                if topics_partitions_item.last_fetched_epoch != -1:
                    raise not_in_version("topics.partitions.last_fetched_epoch")
                out += pack_iqqi(topics_partitions_item.partition, topics_partitions_item.fetch_offset, topics_partitions_item.log_start_offset, topics_partitions_item.partition_max_bytes)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchRequest", version) from error


encode_fetch_request_v6 = at_version(encode_fetch_request_v5, 6)


def encode_fetch_request_v7(msg: FetchRequest, out: bytearray, version: int = 7) -> None:
    start = len(out)
    try:
        if msg.replica_state != ReplicaState():
            raise not_in_version("replica_state")
        topics = msg.topics
        out += pack_iiiibiii(msg.replica_id, msg.max_wait_ms, msg.min_bytes, msg.max_bytes, msg.isolation_level, msg.session_id, msg.session_epoch, len(topics))
        for topics_item in topics:
            raw = topics_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                if topics_partitions_item.last_fetched_epoch != -1:
                    raise not_in_version("topics.partitions.last_fetched_epoch")
                out += pack_iqqi(topics_partitions_item.partition, topics_partitions_item.fetch_offset, topics_partitions_item.log_start_offset, topics_partitions_item.partition_max_bytes)
        forgotten_topics_data = msg.forgotten_topics_data
        out += pack_i(len(forgotten_topics_data))
        for forgotten_topics_data_item in forgotten_topics_data:
            raw = forgotten_topics_data_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            forgotten_topics_data_partitions = forgotten_topics_data_item.partitions
            out += pack_i(len(forgotten_topics_data_partitions))
            out += pack_i(*forgotten_topics_data_partitions) if len(forgotten_topics_data_partitions) == 1 else pack(f">{len(forgotten_topics_data_partitions)}i", *forgotten_topics_data_partitions)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchRequest", version) from error


encode_fetch_request_v8 = at_version(encode_fetch_request_v7, 8)


def encode_fetch_request_v9(msg: FetchRequest, out: bytearray, version: int = 9) -> None:
    start = len(out)
    try:
        if msg.replica_state != ReplicaState():
            raise not_in_version("replica_state")
        topics = msg.topics
        out += pack_iiiibiii(msg.replica_id, msg.max_wait_ms, msg.min_bytes, msg.max_bytes, msg.isolation_level, msg.session_id, msg.session_epoch, len(topics))
        for topics_item in topics:
            raw = topics_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                if topics_partitions_item.last_fetched_epoch != -1:
                    raise not_in_version("topics.partitions.last_fetched_epoch")
                out += pack_iiqqi(topics_partitions_item.partition, topics_partitions_item.current_leader_epoch, topics_partitions_item.fetch_offset, topics_partitions_item.log_start_offset, topics_partitions_item.partition_max_bytes)
        forgotten_topics_data = msg.forgotten_topics_data
        out += pack_i(len(forgotten_topics_data))
        for forgotten_topics_data_item in forgotten_topics_data:
            raw = forgotten_topics_data_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            forgotten_topics_data_partitions = forgotten_topics_data_item.partitions
            out += pack_i(len(forgotten_topics_data_partitions))
            out += pack_i(*forgotten_topics_data_partitions) if len(forgotten_topics_data_partitions) == 1 else pack(f">{len(forgotten_topics_data_partitions)}i", *forgotten_topics_data_partitions)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchRequest", version) from error


encode_fetch_request_v10 = at_version(encode_fetch_request_v9, 10)


def encode_fetch_request_v11(msg: FetchRequest, out: bytearray, version: int = 11) -> None:
    start = len(out)
    try:
        if msg.replica_state != ReplicaState():
            raise not_in_version("replica_state")
        topics = msg.topics
        out += pack_iiiibiii(msg.replica_id, msg.max_wait_ms, msg.min_bytes, msg.max_bytes, msg.isolation_level, msg.session_id, msg.session_epoch, len(topics))
        for topics_item in topics:
            raw = topics_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                if topics_partitions_item.last_fetched_epoch != -1:
                    raise not_in_version("topics.partitions.last_fetched_epoch")
                out += pack_iiqqi(topics_partitions_item.partition, topics_partitions_item.current_leader_epoch, topics_partitions_item.fetch_offset, topics_partitions_item.log_start_offset, topics_partitions_item.partition_max_bytes)
        forgotten_topics_data = msg.forgotten_topics_data
        out += pack_i(len(forgotten_topics_data))
        for forgotten_topics_data_item in forgotten_topics_data:
            raw = forgotten_topics_data_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            forgotten_topics_data_partitions = forgotten_topics_data_item.partitions
            out += pack_i(len(forgotten_topics_data_partitions))
            out += pack_i(*forgotten_topics_data_partitions) if len(forgotten_topics_data_partitions) == 1 else pack(f">{len(forgotten_topics_data_partitions)}i", *forgotten_topics_data_partitions)
        raw = msg.rack_id.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchRequest", version) from error


def encode_fetch_request_v12(msg: FetchRequest, out: bytearray, version: int = 12) -> None:
    start = len(out)
    try:
        if msg.replica_state != ReplicaState():
            raise not_in_version("replica_state")
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out += pack_iiiibiiB(msg.replica_id, msg.max_wait_ms, msg.min_bytes, msg.max_bytes, msg.isolation_level, msg.session_id, msg.session_epoch, n)
        else:
            out += pack_iiiibii(msg.replica_id, msg.max_wait_ms, msg.min_bytes, msg.max_bytes, msg.isolation_level, msg.session_id, msg.session_epoch)
            out += write_uvarint(n)
        for topics_item in topics:
            raw = topics_item.topic.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += b"".join([pack_iiqiqix(topics_partitions_item.partition, topics_partitions_item.current_leader_epoch, topics_partitions_item.fetch_offset, topics_partitions_item.last_fetched_epoch, topics_partitions_item.log_start_offset, topics_partitions_item.partition_max_bytes) for topics_partitions_item in topics_partitions])
            out.append(0)
        forgotten_topics_data = msg.forgotten_topics_data
        n = len(forgotten_topics_data) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for forgotten_topics_data_item in forgotten_topics_data:
            raw = forgotten_topics_data_item.topic.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            forgotten_topics_data_partitions = forgotten_topics_data_item.partitions
            n = len(forgotten_topics_data_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += pack_i(*forgotten_topics_data_partitions) if len(forgotten_topics_data_partitions) == 1 else pack(f">{len(forgotten_topics_data_partitions)}i", *forgotten_topics_data_partitions)
            out.append(0)
        raw = msg.rack_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        if msg.cluster_id is not None:
            out += pack_BB(1, 0)
            cluster_id_content = bytearray()
            raw = msg.cluster_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                cluster_id_content.append(n)
            else:
                cluster_id_content += write_string_size(n)
            cluster_id_content += raw
            n = len(cluster_id_content)
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += cluster_id_content
        else:
            out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchRequest", version) from error


def encode_fetch_request_v13(msg: FetchRequest, out: bytearray, version: int = 13) -> None:
    start = len(out)
    try:
        if msg.replica_state != ReplicaState():
            raise not_in_version("replica_state")
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out += pack_iiiibiiB(msg.replica_id, msg.max_wait_ms, msg.min_bytes, msg.max_bytes, msg.isolation_level, msg.session_id, msg.session_epoch, n)
        else:
            out += pack_iiiibii(msg.replica_id, msg.max_wait_ms, msg.min_bytes, msg.max_bytes, msg.isolation_level, msg.session_id, msg.session_epoch)
            out += write_uvarint(n)
        for topics_item in topics:
            if len(topics_item.topic_id) != 16:
                raise BadField("topics.topic_id", "a UUID has 16 bytes")
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out += pack_uB(topics_item.topic_id, n)
            else:
                out += pack_u(topics_item.topic_id)
                out += write_uvarint(n)
            out += b"".join([pack_iiqiqix(topics_partitions_item.partition, topics_partitions_item.current_leader_epoch, topics_partitions_item.fetch_offset, topics_partitions_item.last_fetched_epoch, topics_partitions_item.log_start_offset, topics_partitions_item.partition_max_bytes) for topics_partitions_item in topics_partitions])
            out.append(0)
        forgotten_topics_data = msg.forgotten_topics_data
        n = len(forgotten_topics_data) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for forgotten_topics_data_item in forgotten_topics_data:
            if len(forgotten_topics_data_item.topic_id) != 16:
                raise BadField("forgotten_topics_data.topic_id", "a UUID has 16 bytes")
            forgotten_topics_data_partitions = forgotten_topics_data_item.partitions
            n = len(forgotten_topics_data_partitions) + 1
            if n < 0x80:
                out += pack_uB(forgotten_topics_data_item.topic_id, n)
            else:
                out += pack_u(forgotten_topics_data_item.topic_id)
                out += write_uvarint(n)
            out += pack_i(*forgotten_topics_data_partitions) if len(forgotten_topics_data_partitions) == 1 else pack(f">{len(forgotten_topics_data_partitions)}i", *forgotten_topics_data_partitions)
            out.append(0)
        raw = msg.rack_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        if msg.cluster_id is not None:
            out += pack_BB(1, 0)
            cluster_id_content = bytearray()
            raw = msg.cluster_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                cluster_id_content.append(n)
            else:
                cluster_id_content += write_string_size(n)
            cluster_id_content += raw
            n = len(cluster_id_content)
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += cluster_id_content
        else:
            out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchRequest", version) from error


encode_fetch_request_v14 = at_version(encode_fetch_request_v13, 14)


def encode_fetch_request_v15(msg: FetchRequest, out: bytearray, version: int = 15) -> None:
    start = len(out)
    try:
        if msg.replica_id != -1:
            raise not_in_version("replica_id")
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out += pack_iiibiiB(msg.max_wait_ms, msg.min_bytes, msg.max_bytes, msg.isolation_level, msg.session_id, msg.session_epoch, n)
        else:
            out += pack_iiibii(msg.max_wait_ms, msg.min_bytes, msg.max_bytes, msg.isolation_level, msg.session_id, msg.session_epoch)
            out += write_uvarint(n)
        for topics_item in topics:
            if len(topics_item.topic_id) != 16:
                raise BadField("topics.topic_id", "a UUID has 16 bytes")
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out += pack_uB(topics_item.topic_id, n)
            else:
                out += pack_u(topics_item.topic_id)
                out += write_uvarint(n)
            out += b"".join([pack_iiqiqix(topics_partitions_item.partition, topics_partitions_item.current_leader_epoch, topics_partitions_item.fetch_offset, topics_partitions_item.last_fetched_epoch, topics_partitions_item.log_start_offset, topics_partitions_item.partition_max_bytes) for topics_partitions_item in topics_partitions])
            out.append(0)
        forgotten_topics_data = msg.forgotten_topics_data
        n = len(forgotten_topics_data) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for forgotten_topics_data_item in forgotten_topics_data:
            if len(forgotten_topics_data_item.topic_id) != 16:
                raise BadField("forgotten_topics_data.topic_id", "a UUID has 16 bytes")
            forgotten_topics_data_partitions = forgotten_topics_data_item.partitions
            n = len(forgotten_topics_data_partitions) + 1
            if n < 0x80:
                out += pack_uB(forgotten_topics_data_item.topic_id, n)
            else:
                out += pack_u(forgotten_topics_data_item.topic_id)
                out += write_uvarint(n)
            out += pack_i(*forgotten_topics_data_partitions) if len(forgotten_topics_data_partitions) == 1 else pack(f">{len(forgotten_topics_data_partitions)}i", *forgotten_topics_data_partitions)
            out.append(0)
        raw = msg.rack_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        tag_count = 0
        tagged = bytearray()
        if msg.cluster_id is not None:
            tag_count += 1
            tagged.append(0)
            cluster_id_content = bytearray()
            raw = msg.cluster_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                cluster_id_content.append(n)
            else:
                cluster_id_content += write_string_size(n)
            cluster_id_content += raw
            n = len(cluster_id_content)
            if n < 0x80:
                tagged.append(n)
            else:
                tagged += write_uvarint(n)
            tagged += cluster_id_content
        if msg.replica_state != ReplicaState():
            tag_count += 1
            tagged.append(1)
            replica_state_content = bytearray()
            replica_state = msg.replica_state
            replica_state_content += pack_iqx(replica_state.replica_id, replica_state.replica_epoch)
            n = len(replica_state_content)
            if n < 0x80:
                tagged.append(n)
            else:
                tagged += write_uvarint(n)
            tagged += replica_state_content
        out.append(tag_count)
        out += tagged
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchRequest", version) from error


encode_fetch_request_v16 = at_version(encode_fetch_request_v15, 16)


def encode_fetch_request_v17(msg: FetchRequest, out: bytearray, version: int = 17) -> None:
    start = len(out)
    try:
        if msg.replica_id != -1:
            raise not_in_version("replica_id")
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out += pack_iiibiiB(msg.max_wait_ms, msg.min_bytes, msg.max_bytes, msg.isolation_level, msg.session_id, msg.session_epoch, n)
        else:
            out += pack_iiibii(msg.max_wait_ms, msg.min_bytes, msg.max_bytes, msg.isolation_level, msg.session_id, msg.session_epoch)
            out += write_uvarint(n)
        for topics_item in topics:
            if len(topics_item.topic_id) != 16:
                raise BadField("topics.topic_id", "a UUID has 16 bytes")
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out += pack_uB(topics_item.topic_id, n)
            else:
                out += pack_u(topics_item.topic_id)
                out += write_uvarint(n)
            for topics_partitions_item in topics_partitions:
                out += pack_iiqiqi(topics_partitions_item.partition, topics_partitions_item.current_leader_epoch, topics_partitions_item.fetch_offset, topics_partitions_item.last_fetched_epoch, topics_partitions_item.log_start_offset, topics_partitions_item.partition_max_bytes)
                if topics_partitions_item.replica_directory_id != ZERO_UUID:
                    if len(topics_partitions_item.replica_directory_id) != 16:
                        raise BadField("topics.partitions.replica_directory_id", "a UUID has 16 bytes")
                    out += pack_BBBu(1, 0, 16, topics_partitions_item.replica_directory_id)
                else:
                    out.append(0)
            out.append(0)
        forgotten_topics_data = msg.forgotten_topics_data
        n = len(forgotten_topics_data) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for forgotten_topics_data_item in forgotten_topics_data:
            if len(forgotten_topics_data_item.topic_id) != 16:
                raise BadField("forgotten_topics_data.topic_id", "a UUID has 16 bytes")
            forgotten_topics_data_partitions = forgotten_topics_data_item.partitions
            n = len(forgotten_topics_data_partitions) + 1
            if n < 0x80:
                out += pack_uB(forgotten_topics_data_item.topic_id, n)
            else:
                out += pack_u(forgotten_topics_data_item.topic_id)
                out += write_uvarint(n)
            out += pack_i(*forgotten_topics_data_partitions) if len(forgotten_topics_data_partitions) == 1 else pack(f">{len(forgotten_topics_data_partitions)}i", *forgotten_topics_data_partitions)
            out.append(0)
        raw = msg.rack_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        tag_count = 0
        tagged = bytearray()
        if msg.cluster_id is not None:
            tag_count += 1
            tagged.append(0)
            cluster_id_content = bytearray()
            raw = msg.cluster_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                cluster_id_content.append(n)
            else:
                cluster_id_content += write_string_size(n)
            cluster_id_content += raw
            n = len(cluster_id_content)
            if n < 0x80:
                tagged.append(n)
            else:
                tagged += write_uvarint(n)
            tagged += cluster_id_content
        if msg.replica_state != ReplicaState():
            tag_count += 1
            tagged.append(1)
            replica_state_content = bytearray()
            replica_state = msg.replica_state
            replica_state_content += pack_iqx(replica_state.replica_id, replica_state.replica_epoch)
            n = len(replica_state_content)
            if n < 0x80:
                tagged.append(n)
            else:
                tagged += write_uvarint(n)
            tagged += replica_state_content
        out.append(tag_count)
        out += tagged
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchRequest", version) from error


def encode_fetch_request_v18(msg: FetchRequest, out: bytearray, version: int = 18) -> None:
    start = len(out)
    try:
        if msg.replica_id != -1:
            raise not_in_version("replica_id")
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out += pack_iiibiiB(msg.max_wait_ms, msg.min_bytes, msg.max_bytes, msg.isolation_level, msg.session_id, msg.session_epoch, n)
        else:
            out += pack_iiibii(msg.max_wait_ms, msg.min_bytes, msg.max_bytes, msg.isolation_level, msg.session_id, msg.session_epoch)
            out += write_uvarint(n)
        for topics_item in topics:
            if len(topics_item.topic_id) != 16:
                raise BadField("topics.topic_id", "a UUID has 16 bytes")
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out += pack_uB(topics_item.topic_id, n)
            else:
                out += pack_u(topics_item.topic_id)
                out += write_uvarint(n)
            for topics_partitions_item in topics_partitions:
                out += pack_iiqiqi(topics_partitions_item.partition, topics_partitions_item.current_leader_epoch, topics_partitions_item.fetch_offset, topics_partitions_item.last_fetched_epoch, topics_partitions_item.log_start_offset, topics_partitions_item.partition_max_bytes)
                topics_partitions_tag_count = 0
                topics_partitions_tagged = bytearray()
                if topics_partitions_item.replica_directory_id != ZERO_UUID:
                    topics_partitions_tag_count += 1
                    if len(topics_partitions_item.replica_directory_id) != 16:
                        raise BadField("topics.partitions.replica_directory_id", "a UUID has 16 bytes")
                    topics_partitions_tagged += pack_BBu(0, 16, topics_partitions_item.replica_directory_id)
                if topics_partitions_item.high_watermark != 9223372036854775807:
                    topics_partitions_tag_count += 1
                    topics_partitions_tagged += pack_BBq(1, 8, topics_partitions_item.high_watermark)
                out.append(topics_partitions_tag_count)
                out += topics_partitions_tagged
            out.append(0)
        forgotten_topics_data = msg.forgotten_topics_data
        n = len(forgotten_topics_data) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for forgotten_topics_data_item in forgotten_topics_data:
            if len(forgotten_topics_data_item.topic_id) != 16:
                raise BadField("forgotten_topics_data.topic_id", "a UUID has 16 bytes")
            forgotten_topics_data_partitions = forgotten_topics_data_item.partitions
            n = len(forgotten_topics_data_partitions) + 1
            if n < 0x80:
                out += pack_uB(forgotten_topics_data_item.topic_id, n)
            else:
                out += pack_u(forgotten_topics_data_item.topic_id)
                out += write_uvarint(n)
            out += pack_i(*forgotten_topics_data_partitions) if len(forgotten_topics_data_partitions) == 1 else pack(f">{len(forgotten_topics_data_partitions)}i", *forgotten_topics_data_partitions)
            out.append(0)
        raw = msg.rack_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        tag_count = 0
        tagged = bytearray()
        if msg.cluster_id is not None:
            tag_count += 1
            tagged.append(0)
            cluster_id_content = bytearray()
            raw = msg.cluster_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                cluster_id_content.append(n)
            else:
                cluster_id_content += write_string_size(n)
            cluster_id_content += raw
            n = len(cluster_id_content)
            if n < 0x80:
                tagged.append(n)
            else:
                tagged += write_uvarint(n)
            tagged += cluster_id_content
        if msg.replica_state != ReplicaState():
            tag_count += 1
            tagged.append(1)
            replica_state_content = bytearray()
            replica_state = msg.replica_state
            replica_state_content += pack_iqx(replica_state.replica_id, replica_state.replica_epoch)
            n = len(replica_state_content)
            if n < 0x80:
                tagged.append(n)
            else:
                tagged += write_uvarint(n)
            tagged += replica_state_content
        out.append(tag_count)
        out += tagged
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchRequest", version) from error


def decode_fetch_response_v4(buf: bytes, pos: int, version: int = 4) -> tuple[FetchResponse, int]:
    start = pos
    n: int
    try:
        room = 45744 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        responses: list[FetchableTopicResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 208
        if room < 0:
            room = verify(FetchResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
        for _ in range(responses_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("responses.topic")
            if n < 0x80:
                responses_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                responses_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            responses_partitions: list[PartitionData]
            if n < 0:
                raise BadField("responses.partitions")
            room -= n * 272
            if room < 0:
                room = verify(FetchResponse, version, buf, start, pos + n)
            responses_partitions = []
            responses_partitions_count = n
            for _ in range(responses_partitions_count):
                responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_high_watermark, responses_partitions_last_stable_offset, n = unpack_ihqqi(buf, pos)
                pos += 26
                responses_partitions_aborted_transactions: list[AbortedTransaction] | None
                if n < 0:
                    responses_partitions_aborted_transactions = None
                else:
                    room -= n * 72
                    if room < 0:
                        room = verify(FetchResponse, version, buf, start, pos + n)
                    end = pos + n * 16
                    responses_partitions_aborted_transactions = list(starmap(AbortedTransaction, rows_qq(buf[pos:end])))
                    pos = end
                responses_partitions_records: bytes | None
                (n,) = unpack_i(buf, pos)
                if n < 0:
                    responses_partitions_records = None
                    pos += 4
                else:
                    responses_partitions_records = buf[pos + 4 : (pos := pos + 4 + n)]
                responses_partitions.append(PartitionData(responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_high_watermark, responses_partitions_last_stable_offset, -1, EpochEndOffset(), LeaderIdAndEpoch(), SnapshotId(), responses_partitions_aborted_transactions, -1, responses_partitions_records))
            responses.append(FetchableTopicResponse(responses_topic, ZERO_UUID, responses_partitions))
        if pos > len(buf):
            raise IndexError
        return FetchResponse(throttle_time_ms, 0, 0, responses), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchResponse, version, buf, start, pos) from None


def decode_fetch_response_v5(buf: bytes, pos: int, version: int = 5) -> tuple[FetchResponse, int]:
    start = pos
    n: int
    try:
        room = 45744 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        responses: list[FetchableTopicResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 208
        if room < 0:
            room = verify(FetchResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
        for _ in range(responses_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("responses.topic")
            if n < 0x80:
                responses_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                responses_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            responses_partitions: list[PartitionData]
            if n < 0:
                raise BadField("responses.partitions")
            room -= n * 288
            if room < 0:
                room = verify(FetchResponse, version, buf, start, pos + n)
            responses_partitions = []
            responses_partitions_count = n
            for _ in range(responses_partitions_count):
                responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_high_watermark, responses_partitions_last_stable_offset, responses_partitions_log_start_offset, n = unpack_ihqqqi(buf, pos)
                pos += 34
                responses_partitions_aborted_transactions: list[AbortedTransaction] | None
                if n < 0:
                    responses_partitions_aborted_transactions = None
                else:
                    room -= n * 72
                    if room < 0:
                        room = verify(FetchResponse, version, buf, start, pos + n)
                    end = pos + n * 16
                    responses_partitions_aborted_transactions = list(starmap(AbortedTransaction, rows_qq(buf[pos:end])))
                    pos = end
                responses_partitions_records: bytes | None
                (n,) = unpack_i(buf, pos)
                if n < 0:
                    responses_partitions_records = None
                    pos += 4
                else:
                    responses_partitions_records = buf[pos + 4 : (pos := pos + 4 + n)]
                responses_partitions.append(PartitionData(responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_high_watermark, responses_partitions_last_stable_offset, responses_partitions_log_start_offset, EpochEndOffset(), LeaderIdAndEpoch(), SnapshotId(), responses_partitions_aborted_transactions, -1, responses_partitions_records))
            responses.append(FetchableTopicResponse(responses_topic, ZERO_UUID, responses_partitions))
        if pos > len(buf):
            raise IndexError
        return FetchResponse(throttle_time_ms, 0, 0, responses), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchResponse, version, buf, start, pos) from None


decode_fetch_response_v6 = at_version(decode_fetch_response_v5, 6)


def decode_fetch_response_v7(buf: bytes, pos: int, version: int = 7) -> tuple[FetchResponse, int]:
    start = pos
    n: int
    try:
        room = 45680 - 2 * len(buf)
        throttle_time_ms, error_code, session_id, n = unpack_ihii(buf, pos)
        pos += 14
        responses: list[FetchableTopicResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 208
        if room < 0:
            room = verify(FetchResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
        for _ in range(responses_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("responses.topic")
            if n < 0x80:
                responses_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                responses_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            responses_partitions: list[PartitionData]
            if n < 0:
                raise BadField("responses.partitions")
            room -= n * 288
            if room < 0:
                room = verify(FetchResponse, version, buf, start, pos + n)
            responses_partitions = []
            responses_partitions_count = n
            for _ in range(responses_partitions_count):
                responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_high_watermark, responses_partitions_last_stable_offset, responses_partitions_log_start_offset, n = unpack_ihqqqi(buf, pos)
                pos += 34
                responses_partitions_aborted_transactions: list[AbortedTransaction] | None
                if n < 0:
                    responses_partitions_aborted_transactions = None
                else:
                    room -= n * 72
                    if room < 0:
                        room = verify(FetchResponse, version, buf, start, pos + n)
                    end = pos + n * 16
                    responses_partitions_aborted_transactions = list(starmap(AbortedTransaction, rows_qq(buf[pos:end])))
                    pos = end
                responses_partitions_records: bytes | None
                (n,) = unpack_i(buf, pos)
                if n < 0:
                    responses_partitions_records = None
                    pos += 4
                else:
                    responses_partitions_records = buf[pos + 4 : (pos := pos + 4 + n)]
                responses_partitions.append(PartitionData(responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_high_watermark, responses_partitions_last_stable_offset, responses_partitions_log_start_offset, EpochEndOffset(), LeaderIdAndEpoch(), SnapshotId(), responses_partitions_aborted_transactions, -1, responses_partitions_records))
            responses.append(FetchableTopicResponse(responses_topic, ZERO_UUID, responses_partitions))
        if pos > len(buf):
            raise IndexError
        return FetchResponse(throttle_time_ms, error_code, session_id, responses), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchResponse, version, buf, start, pos) from None


decode_fetch_response_v8 = at_version(decode_fetch_response_v7, 8)


decode_fetch_response_v9 = at_version(decode_fetch_response_v7, 9)


decode_fetch_response_v10 = at_version(decode_fetch_response_v7, 10)


def decode_fetch_response_v11(buf: bytes, pos: int, version: int = 11) -> tuple[FetchResponse, int]:
    start = pos
    n: int
    try:
        room = 45680 - 2 * len(buf)
        throttle_time_ms, error_code, session_id, n = unpack_ihii(buf, pos)
        pos += 14
        responses: list[FetchableTopicResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 208
        if room < 0:
            room = verify(FetchResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
        for _ in range(responses_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("responses.topic")
            if n < 0x80:
                responses_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                responses_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            responses_partitions: list[PartitionData]
            if n < 0:
                raise BadField("responses.partitions")
            room -= n * 304
            if room < 0:
                room = verify(FetchResponse, version, buf, start, pos + n)
            responses_partitions = []
            responses_partitions_count = n
            for _ in range(responses_partitions_count):
                responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_high_watermark, responses_partitions_last_stable_offset, responses_partitions_log_start_offset, n = unpack_ihqqqi(buf, pos)
                pos += 34
                responses_partitions_aborted_transactions: list[AbortedTransaction] | None
                if n < 0:
                    responses_partitions_aborted_transactions = None
                else:
                    room -= n * 72
                    if room < 0:
                        room = verify(FetchResponse, version, buf, start, pos + n)
                    end = pos + n * 16
                    responses_partitions_aborted_transactions = list(starmap(AbortedTransaction, rows_qq(buf[pos:end])))
                    pos = end
                responses_partitions_records: bytes | None
                responses_partitions_preferred_read_replica, n = unpack_ii(buf, pos)
                if n < 0:
                    responses_partitions_records = None
                    pos += 8
                else:
                    responses_partitions_records = buf[pos + 8 : (pos := pos + 8 + n)]
                responses_partitions.append(PartitionData(responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_high_watermark, responses_partitions_last_stable_offset, responses_partitions_log_start_offset, EpochEndOffset(), LeaderIdAndEpoch(), SnapshotId(), responses_partitions_aborted_transactions, responses_partitions_preferred_read_replica, responses_partitions_records))
            responses.append(FetchableTopicResponse(responses_topic, ZERO_UUID, responses_partitions))
        if pos > len(buf):
            raise IndexError
        return FetchResponse(throttle_time_ms, error_code, session_id, responses), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchResponse, version, buf, start, pos) from None


def decode_fetch_response_v12(buf: bytes, pos: int, version: int = 12) -> tuple[FetchResponse, int]:
    start = pos
    n: int
    try:
        room = 45680 - 2 * len(buf)
        throttle_time_ms, error_code, session_id, n = unpack_ihiB(buf, pos)
        pos += 11
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        responses: list[FetchableTopicResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 220
        if room < 0:
            room = verify(FetchResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
        for _ in range(responses_count):
            n = buf[pos]
            if 0 < n < 0x80:
                responses_topic = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("responses.topic")
                n -= 1
                here = pos
                pos = here + n
                responses_topic = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            responses_partitions: list[PartitionData]
            if n < 0:
                raise BadField("responses.partitions")
            room -= n * 644
            if room < 0:
                room = verify(FetchResponse, version, buf, start, pos + n)
            responses_partitions = []
            responses_partitions_count = n
            for _ in range(responses_partitions_count):
                responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_high_watermark, responses_partitions_last_stable_offset, responses_partitions_log_start_offset, n = unpack_ihqqqB(buf, pos)
                pos += 31
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                responses_partitions_aborted_transactions: list[AbortedTransaction] | None
                if n < 0:
                    responses_partitions_aborted_transactions = None
                else:
                    room -= n * 68
                    if room < 0:
                        room = verify(FetchResponse, version, buf, start, pos + n)
                    end = pos + n * 17
                    if buf[pos + 16 : end : 17].count(0) == n:
                        responses_partitions_aborted_transactions = list(starmap(AbortedTransaction, rows_qqx(buf[pos:end])))
                        pos = end
                    else:
                        responses_partitions_aborted_transactions = []
                        responses_partitions_aborted_transactions_count = n
                        for _ in range(responses_partitions_aborted_transactions_count):
                            responses_partitions_aborted_transactions_producer_id, responses_partitions_aborted_transactions_first_offset, n = unpack_qqB(buf, pos)
                            pos += 17
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            responses_partitions_aborted_transactions.append(AbortedTransaction(responses_partitions_aborted_transactions_producer_id, responses_partitions_aborted_transactions_first_offset))
                responses_partitions_records: bytes | None
                responses_partitions_preferred_read_replica, n = unpack_iB(buf, pos)
                if not n:
                    responses_partitions_records = None
                    pos += 5
                elif n == 1:
                    responses_partitions_records = b""
                    pos += 5
                elif n < 0x80:
                    responses_partitions_records = buf[pos + 5 : (pos := pos + 4 + n)]
                else:
                    n, pos = read_uvarint(buf, pos + 4)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        responses_partitions_records = buf[here:pos]
                    else:
                        responses_partitions_records = None
                n = buf[pos]
                pos += 1
                responses_partitions_diverging_epoch: EpochEndOffset = EpochEndOffset()
                responses_partitions_current_leader: LeaderIdAndEpoch = LeaderIdAndEpoch()
                responses_partitions_snapshot_id: SnapshotId = SnapshotId()
                if n:
                    n, pos = read_uvarint(buf, pos - 1)
                    responses_partitions_tag_count = n
                    for _ in range(responses_partitions_tag_count):
                        tag, pos = read_uvarint(buf, pos)
                        n, pos = read_uvarint(buf, pos)
                        responses_partitions_tag_end = pos + n
                        if responses_partitions_tag_end > len(buf):
                            raise IndexError
                        if tag == 0:
                            responses_partitions_diverging_epoch_epoch, responses_partitions_diverging_epoch_end_offset, n = unpack_iqB(buf, pos)
                            pos += 13
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            responses_partitions_diverging_epoch = EpochEndOffset(responses_partitions_diverging_epoch_epoch, responses_partitions_diverging_epoch_end_offset)
                        elif tag == 1:
                            responses_partitions_current_leader_leader_id, responses_partitions_current_leader_leader_epoch, n = unpack_iiB(buf, pos)
                            pos += 9
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            responses_partitions_current_leader = LeaderIdAndEpoch(responses_partitions_current_leader_leader_id, responses_partitions_current_leader_leader_epoch)
                        elif tag == 2:
                            responses_partitions_snapshot_id_end_offset, responses_partitions_snapshot_id_epoch, n = unpack_qiB(buf, pos)
                            pos += 13
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            responses_partitions_snapshot_id = SnapshotId(responses_partitions_snapshot_id_end_offset, responses_partitions_snapshot_id_epoch)
                        else:
                            pos = responses_partitions_tag_end
                        if pos != responses_partitions_tag_end:
                            raise BadField("responses.partitions.tagged fields", "a size is not that of its content")
                responses_partitions.append(PartitionData(responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_high_watermark, responses_partitions_last_stable_offset, responses_partitions_log_start_offset, responses_partitions_diverging_epoch, responses_partitions_current_leader, responses_partitions_snapshot_id, responses_partitions_aborted_transactions, responses_partitions_preferred_read_replica, responses_partitions_records))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            responses.append(FetchableTopicResponse(responses_topic, ZERO_UUID, responses_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return FetchResponse(throttle_time_ms, error_code, session_id, responses), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchResponse, version, buf, start, pos) from None


def decode_fetch_response_v13(buf: bytes, pos: int, version: int = 13) -> tuple[FetchResponse, int]:
    start = pos
    n: int
    try:
        room = 45680 - 2 * len(buf)
        throttle_time_ms, error_code, session_id, n = unpack_ihiB(buf, pos)
        pos += 11
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        responses: list[FetchableTopicResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 128
        if room < 0:
            room = verify(FetchResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
        for _ in range(responses_count):
            responses_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            responses_partitions: list[PartitionData]
            if n < 0:
                raise BadField("responses.partitions")
            room -= n * 644
            if room < 0:
                room = verify(FetchResponse, version, buf, start, pos + n)
            responses_partitions = []
            responses_partitions_count = n
            for _ in range(responses_partitions_count):
                responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_high_watermark, responses_partitions_last_stable_offset, responses_partitions_log_start_offset, n = unpack_ihqqqB(buf, pos)
                pos += 31
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                responses_partitions_aborted_transactions: list[AbortedTransaction] | None
                if n < 0:
                    responses_partitions_aborted_transactions = None
                else:
                    room -= n * 68
                    if room < 0:
                        room = verify(FetchResponse, version, buf, start, pos + n)
                    end = pos + n * 17
                    if buf[pos + 16 : end : 17].count(0) == n:
                        responses_partitions_aborted_transactions = list(starmap(AbortedTransaction, rows_qqx(buf[pos:end])))
                        pos = end
                    else:
                        responses_partitions_aborted_transactions = []
                        responses_partitions_aborted_transactions_count = n
                        for _ in range(responses_partitions_aborted_transactions_count):
                            responses_partitions_aborted_transactions_producer_id, responses_partitions_aborted_transactions_first_offset, n = unpack_qqB(buf, pos)
                            pos += 17
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            responses_partitions_aborted_transactions.append(AbortedTransaction(responses_partitions_aborted_transactions_producer_id, responses_partitions_aborted_transactions_first_offset))
                responses_partitions_records: bytes | None
                responses_partitions_preferred_read_replica, n = unpack_iB(buf, pos)
                if not n:
                    responses_partitions_records = None
                    pos += 5
                elif n == 1:
                    responses_partitions_records = b""
                    pos += 5
                elif n < 0x80:
                    responses_partitions_records = buf[pos + 5 : (pos := pos + 4 + n)]
                else:
                    n, pos = read_uvarint(buf, pos + 4)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        responses_partitions_records = buf[here:pos]
                    else:
                        responses_partitions_records = None
                n = buf[pos]
                pos += 1
                responses_partitions_diverging_epoch: EpochEndOffset = EpochEndOffset()
                responses_partitions_current_leader: LeaderIdAndEpoch = LeaderIdAndEpoch()
                responses_partitions_snapshot_id: SnapshotId = SnapshotId()
                if n:
                    n, pos = read_uvarint(buf, pos - 1)
                    responses_partitions_tag_count = n
                    for _ in range(responses_partitions_tag_count):
                        tag, pos = read_uvarint(buf, pos)
                        n, pos = read_uvarint(buf, pos)
                        responses_partitions_tag_end = pos + n
                        if responses_partitions_tag_end > len(buf):
                            raise IndexError
                        if tag == 0:
                            responses_partitions_diverging_epoch_epoch, responses_partitions_diverging_epoch_end_offset, n = unpack_iqB(buf, pos)
                            pos += 13
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            responses_partitions_diverging_epoch = EpochEndOffset(responses_partitions_diverging_epoch_epoch, responses_partitions_diverging_epoch_end_offset)
                        elif tag == 1:
                            responses_partitions_current_leader_leader_id, responses_partitions_current_leader_leader_epoch, n = unpack_iiB(buf, pos)
                            pos += 9
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            responses_partitions_current_leader = LeaderIdAndEpoch(responses_partitions_current_leader_leader_id, responses_partitions_current_leader_leader_epoch)
                        elif tag == 2:
                            responses_partitions_snapshot_id_end_offset, responses_partitions_snapshot_id_epoch, n = unpack_qiB(buf, pos)
                            pos += 13
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            responses_partitions_snapshot_id = SnapshotId(responses_partitions_snapshot_id_end_offset, responses_partitions_snapshot_id_epoch)
                        else:
                            pos = responses_partitions_tag_end
                        if pos != responses_partitions_tag_end:
                            raise BadField("responses.partitions.tagged fields", "a size is not that of its content")
                responses_partitions.append(PartitionData(responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_high_watermark, responses_partitions_last_stable_offset, responses_partitions_log_start_offset, responses_partitions_diverging_epoch, responses_partitions_current_leader, responses_partitions_snapshot_id, responses_partitions_aborted_transactions, responses_partitions_preferred_read_replica, responses_partitions_records))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            responses.append(FetchableTopicResponse("", responses_topic_id, responses_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return FetchResponse(throttle_time_ms, error_code, session_id, responses), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchResponse, version, buf, start, pos) from None


decode_fetch_response_v14 = at_version(decode_fetch_response_v13, 14)


decode_fetch_response_v15 = at_version(decode_fetch_response_v13, 15)


def decode_fetch_response_v16(buf: bytes, pos: int, version: int = 16) -> tuple[FetchResponse, int]:
    start = pos
    n: int
    try:
        room = 45680 - 2 * len(buf)
        throttle_time_ms, error_code, session_id, n = unpack_ihiB(buf, pos)
        pos += 11
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        responses: list[FetchableTopicResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 128
        if room < 0:
            room = verify(FetchResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
        for _ in range(responses_count):
            responses_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            responses_partitions: list[PartitionData]
            if n < 0:
                raise BadField("responses.partitions")
            room -= n * 644
            if room < 0:
                room = verify(FetchResponse, version, buf, start, pos + n)
            responses_partitions = []
            responses_partitions_count = n
            for _ in range(responses_partitions_count):
                responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_high_watermark, responses_partitions_last_stable_offset, responses_partitions_log_start_offset, n = unpack_ihqqqB(buf, pos)
                pos += 31
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                responses_partitions_aborted_transactions: list[AbortedTransaction] | None
                if n < 0:
                    responses_partitions_aborted_transactions = None
                else:
                    room -= n * 68
                    if room < 0:
                        room = verify(FetchResponse, version, buf, start, pos + n)
                    end = pos + n * 17
                    if buf[pos + 16 : end : 17].count(0) == n:
                        responses_partitions_aborted_transactions = list(starmap(AbortedTransaction, rows_qqx(buf[pos:end])))
                        pos = end
                    else:
                        responses_partitions_aborted_transactions = []
                        responses_partitions_aborted_transactions_count = n
                        for _ in range(responses_partitions_aborted_transactions_count):
                            responses_partitions_aborted_transactions_producer_id, responses_partitions_aborted_transactions_first_offset, n = unpack_qqB(buf, pos)
                            pos += 17
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            responses_partitions_aborted_transactions.append(AbortedTransaction(responses_partitions_aborted_transactions_producer_id, responses_partitions_aborted_transactions_first_offset))
                responses_partitions_records: bytes | None
                responses_partitions_preferred_read_replica, n = unpack_iB(buf, pos)
                if not n:
                    responses_partitions_records = None
                    pos += 5
                elif n == 1:
                    responses_partitions_records = b""
                    pos += 5
                elif n < 0x80:
                    responses_partitions_records = buf[pos + 5 : (pos := pos + 4 + n)]
                else:
                    n, pos = read_uvarint(buf, pos + 4)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        responses_partitions_records = buf[here:pos]
                    else:
                        responses_partitions_records = None
                n = buf[pos]
                pos += 1
                responses_partitions_diverging_epoch: EpochEndOffset = EpochEndOffset()
                responses_partitions_current_leader: LeaderIdAndEpoch = LeaderIdAndEpoch()
                responses_partitions_snapshot_id: SnapshotId = SnapshotId()
                if n:
                    n, pos = read_uvarint(buf, pos - 1)
                    responses_partitions_tag_count = n
                    for _ in range(responses_partitions_tag_count):
                        tag, pos = read_uvarint(buf, pos)
                        n, pos = read_uvarint(buf, pos)
                        responses_partitions_tag_end = pos + n
                        if responses_partitions_tag_end > len(buf):
                            raise IndexError
                        if tag == 0:
                            responses_partitions_diverging_epoch_epoch, responses_partitions_diverging_epoch_end_offset, n = unpack_iqB(buf, pos)
                            pos += 13
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            responses_partitions_diverging_epoch = EpochEndOffset(responses_partitions_diverging_epoch_epoch, responses_partitions_diverging_epoch_end_offset)
                        elif tag == 1:
                            responses_partitions_current_leader_leader_id, responses_partitions_current_leader_leader_epoch, n = unpack_iiB(buf, pos)
                            pos += 9
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            responses_partitions_current_leader = LeaderIdAndEpoch(responses_partitions_current_leader_leader_id, responses_partitions_current_leader_leader_epoch)
                        elif tag == 2:
                            responses_partitions_snapshot_id_end_offset, responses_partitions_snapshot_id_epoch, n = unpack_qiB(buf, pos)
                            pos += 13
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            responses_partitions_snapshot_id = SnapshotId(responses_partitions_snapshot_id_end_offset, responses_partitions_snapshot_id_epoch)
                        else:
                            pos = responses_partitions_tag_end
                        if pos != responses_partitions_tag_end:
                            raise BadField("responses.partitions.tagged fields", "a size is not that of its content")
                responses_partitions.append(PartitionData(responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_high_watermark, responses_partitions_last_stable_offset, responses_partitions_log_start_offset, responses_partitions_diverging_epoch, responses_partitions_current_leader, responses_partitions_snapshot_id, responses_partitions_aborted_transactions, responses_partitions_preferred_read_replica, responses_partitions_records))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            responses.append(FetchableTopicResponse("", responses_topic_id, responses_partitions))
        n = buf[pos]
        pos += 1
        node_endpoints: list[NodeEndpoint] = []
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
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    if n < 0:
                        raise BadField("node_endpoints")
                    room -= n * 252
                    if room < 0:
                        room = verify(FetchResponse, version, buf, start, pos + n)
                    node_endpoints = []
                    node_endpoints_left, node_endpoints_step = n, 8
                    while node_endpoints_left:
                        node_endpoints_count = node_endpoints_left
                        if node_endpoints_left >= 8:
                            run = alike(SHAPE_1, buf, pos, node_endpoints_left)
                            if run is not None:
                                pos, n, rows, absent, is_same = run
                                node_endpoints_left -= n
                                node_endpoints += [NodeEndpoint(node_id, host.decode(), port, rack.decode() if rack else absent[1]) for node_id, host, port, rack in rows]
                                continue
                            if node_endpoints_step < node_endpoints_left:
                                node_endpoints_count = node_endpoints_step
                            node_endpoints_step *= 2
                        node_endpoints_left -= node_endpoints_count
                        for _ in range(node_endpoints_count):
                            node_endpoints_node_id, n = unpack_iB(buf, pos)
                            if 0 < n < 0x80:
                                node_endpoints_host = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos + 4)
                                if n == 0:
                                    raise BadField("node_endpoints.host")
                                n -= 1
                                here = pos
                                pos = here + n
                                node_endpoints_host = long_text(buf, here, pos)
                            node_endpoints_rack: str | None
                            node_endpoints_port, n = unpack_iB(buf, pos)
                            if not n:
                                node_endpoints_rack = None
                                pos += 5
                            elif n == 1:
                                node_endpoints_rack = ""
                                pos += 5
                            elif n < 0x80:
                                node_endpoints_rack = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos + 4)
                                if n:
                                    n -= 1
                                    here = pos
                                    pos = here + n
                                    node_endpoints_rack = long_text(buf, here, pos)
                                else:
                                    node_endpoints_rack = None
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            node_endpoints.append(NodeEndpoint(node_endpoints_node_id, node_endpoints_host, node_endpoints_port, node_endpoints_rack))
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return FetchResponse(throttle_time_ms, error_code, session_id, responses, node_endpoints), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FetchResponse, version, buf, start, pos) from None


decode_fetch_response_v17 = at_version(decode_fetch_response_v16, 17)


decode_fetch_response_v18 = at_version(decode_fetch_response_v16, 18)


def encode_fetch_response_v4(msg: FetchResponse, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        if msg.session_id:
            raise not_in_version("session_id")
        if msg.node_endpoints:
            raise not_in_version("node_endpoints")
        responses = msg.responses
        out += pack_ii(msg.throttle_time_ms, len(responses))
        for responses_item in responses:
            raw = responses_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            responses_partitions = responses_item.partitions
            out += pack_i(len(responses_partitions))
            for responses_partitions_item in responses_partitions:
                if responses_partitions_item.diverging_epoch != EpochEndOffset():
                    raise not_in_version("responses.partitions.diverging_epoch")
                if responses_partitions_item.current_leader != LeaderIdAndEpoch():
                    raise not_in_version("responses.partitions.current_leader")
                if responses_partitions_item.snapshot_id != SnapshotId():
                    raise not_in_version("responses.partitions.snapshot_id")
                if responses_partitions_item.preferred_read_replica != -1:
                    raise not_in_version("responses.partitions.preferred_read_replica")
                responses_partitions_aborted_transactions = responses_partitions_item.aborted_transactions
                if responses_partitions_aborted_transactions is None:
                    out += pack_ihqqi(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, -1)
                else:
                    out += pack_ihqqi(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, len(responses_partitions_aborted_transactions))
                    out += b"".join([pack_qq(responses_partitions_aborted_transactions_item.producer_id, responses_partitions_aborted_transactions_item.first_offset) for responses_partitions_aborted_transactions_item in responses_partitions_aborted_transactions])
                data = responses_partitions_item.records
                if data is None:
                    n, raw = -1, b""
                else:
                    raw = data
                    n = len(raw)
                out += pack_i(n)
                out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchResponse", version) from error


def encode_fetch_response_v5(msg: FetchResponse, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        if msg.session_id:
            raise not_in_version("session_id")
        if msg.node_endpoints:
            raise not_in_version("node_endpoints")
        responses = msg.responses
        out += pack_ii(msg.throttle_time_ms, len(responses))
        for responses_item in responses:
            raw = responses_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            responses_partitions = responses_item.partitions
            out += pack_i(len(responses_partitions))
            for responses_partitions_item in responses_partitions:
                if responses_partitions_item.diverging_epoch != EpochEndOffset():
                    raise not_in_version("responses.partitions.diverging_epoch")
                if responses_partitions_item.current_leader != LeaderIdAndEpoch():
                    raise not_in_version("responses.partitions.current_leader")
                if responses_partitions_item.snapshot_id != SnapshotId():
                    raise not_in_version("responses.partitions.snapshot_id")
                if responses_partitions_item.preferred_read_replica != -1:
                    raise not_in_version("responses.partitions.preferred_read_replica")
                responses_partitions_aborted_transactions = responses_partitions_item.aborted_transactions
                if responses_partitions_aborted_transactions is None:
                    out += pack_ihqqqi(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, responses_partitions_item.log_start_offset, -1)
                else:
                    out += pack_ihqqqi(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, responses_partitions_item.log_start_offset, len(responses_partitions_aborted_transactions))
                    out += b"".join([pack_qq(responses_partitions_aborted_transactions_item.producer_id, responses_partitions_aborted_transactions_item.first_offset) for responses_partitions_aborted_transactions_item in responses_partitions_aborted_transactions])
                data = responses_partitions_item.records
                if data is None:
                    n, raw = -1, b""
                else:
                    raw = data
                    n = len(raw)
                out += pack_i(n)
                out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchResponse", version) from error


encode_fetch_response_v6 = at_version(encode_fetch_response_v5, 6)


def encode_fetch_response_v7(msg: FetchResponse, out: bytearray, version: int = 7) -> None:
    start = len(out)
    try:
        if msg.node_endpoints:
            raise not_in_version("node_endpoints")
        responses = msg.responses
        out += pack_ihii(msg.throttle_time_ms, msg.error_code, msg.session_id, len(responses))
        for responses_item in responses:
            raw = responses_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            responses_partitions = responses_item.partitions
            out += pack_i(len(responses_partitions))
            for responses_partitions_item in responses_partitions:
                if responses_partitions_item.diverging_epoch != EpochEndOffset():
                    raise not_in_version("responses.partitions.diverging_epoch")
                if responses_partitions_item.current_leader != LeaderIdAndEpoch():
                    raise not_in_version("responses.partitions.current_leader")
                if responses_partitions_item.snapshot_id != SnapshotId():
                    raise not_in_version("responses.partitions.snapshot_id")
                if responses_partitions_item.preferred_read_replica != -1:
                    raise not_in_version("responses.partitions.preferred_read_replica")
                responses_partitions_aborted_transactions = responses_partitions_item.aborted_transactions
                if responses_partitions_aborted_transactions is None:
                    out += pack_ihqqqi(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, responses_partitions_item.log_start_offset, -1)
                else:
                    out += pack_ihqqqi(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, responses_partitions_item.log_start_offset, len(responses_partitions_aborted_transactions))
                    out += b"".join([pack_qq(responses_partitions_aborted_transactions_item.producer_id, responses_partitions_aborted_transactions_item.first_offset) for responses_partitions_aborted_transactions_item in responses_partitions_aborted_transactions])
                data = responses_partitions_item.records
                if data is None:
                    n, raw = -1, b""
                else:
                    raw = data
                    n = len(raw)
                out += pack_i(n)
                out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchResponse", version) from error


encode_fetch_response_v8 = at_version(encode_fetch_response_v7, 8)


encode_fetch_response_v9 = at_version(encode_fetch_response_v7, 9)


encode_fetch_response_v10 = at_version(encode_fetch_response_v7, 10)


def encode_fetch_response_v11(msg: FetchResponse, out: bytearray, version: int = 11) -> None:
    start = len(out)
    try:
        if msg.node_endpoints:
            raise not_in_version("node_endpoints")
        responses = msg.responses
        out += pack_ihii(msg.throttle_time_ms, msg.error_code, msg.session_id, len(responses))
        for responses_item in responses:
            raw = responses_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            responses_partitions = responses_item.partitions
            out += pack_i(len(responses_partitions))
            for responses_partitions_item in responses_partitions:
                if responses_partitions_item.diverging_epoch != EpochEndOffset():
                    raise not_in_version("responses.partitions.diverging_epoch")
                if responses_partitions_item.current_leader != LeaderIdAndEpoch():
                    raise not_in_version("responses.partitions.current_leader")
                if responses_partitions_item.snapshot_id != SnapshotId():
                    raise not_in_version("responses.partitions.snapshot_id")
                responses_partitions_aborted_transactions = responses_partitions_item.aborted_transactions
                if responses_partitions_aborted_transactions is None:
                    out += pack_ihqqqi(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, responses_partitions_item.log_start_offset, -1)
                else:
                    out += pack_ihqqqi(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, responses_partitions_item.log_start_offset, len(responses_partitions_aborted_transactions))
                    out += b"".join([pack_qq(responses_partitions_aborted_transactions_item.producer_id, responses_partitions_aborted_transactions_item.first_offset) for responses_partitions_aborted_transactions_item in responses_partitions_aborted_transactions])
                data = responses_partitions_item.records
                if data is None:
                    n, raw = -1, b""
                else:
                    raw = data
                    n = len(raw)
                out += pack_ii(responses_partitions_item.preferred_read_replica, n)
                out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchResponse", version) from error


def encode_fetch_response_v12(msg: FetchResponse, out: bytearray, version: int = 12) -> None:
    start = len(out)
    try:
        if msg.node_endpoints:
            raise not_in_version("node_endpoints")
        responses = msg.responses
        n = len(responses) + 1
        if n < 0x80:
            out += pack_ihiB(msg.throttle_time_ms, msg.error_code, msg.session_id, n)
        else:
            out += pack_ihi(msg.throttle_time_ms, msg.error_code, msg.session_id)
            out += write_uvarint(n)
        for responses_item in responses:
            raw = responses_item.topic.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            responses_partitions = responses_item.partitions
            n = len(responses_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for responses_partitions_item in responses_partitions:
                responses_partitions_aborted_transactions = responses_partitions_item.aborted_transactions
                if responses_partitions_aborted_transactions is None:
                    out += pack_ihqqqx(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, responses_partitions_item.log_start_offset)
                else:
                    n = len(responses_partitions_aborted_transactions) + 1
                    if n < 0x80:
                        out += pack_ihqqqB(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, responses_partitions_item.log_start_offset, n)
                    else:
                        out += pack_ihqqq(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, responses_partitions_item.log_start_offset)
                        out += write_uvarint(n)
                    out += b"".join([pack_qqx(responses_partitions_aborted_transactions_item.producer_id, responses_partitions_aborted_transactions_item.first_offset) for responses_partitions_aborted_transactions_item in responses_partitions_aborted_transactions])
                data = responses_partitions_item.records
                if data is None:
                    n, raw = 0, b""
                else:
                    raw = data
                    n = len(raw) + 1
                if n < 0x80:
                    out += pack_iB(responses_partitions_item.preferred_read_replica, n)
                else:
                    out += pack_i(responses_partitions_item.preferred_read_replica)
                    out += write_uvarint(n)
                out += raw
                responses_partitions_tag_count = 0
                responses_partitions_tagged = bytearray()
                if responses_partitions_item.diverging_epoch != EpochEndOffset():
                    responses_partitions_tag_count += 1
                    responses_partitions_tagged.append(0)
                    responses_partitions_diverging_epoch_content = bytearray()
                    responses_partitions_diverging_epoch = responses_partitions_item.diverging_epoch
                    responses_partitions_diverging_epoch_content += pack_iqx(responses_partitions_diverging_epoch.epoch, responses_partitions_diverging_epoch.end_offset)
                    n = len(responses_partitions_diverging_epoch_content)
                    if n < 0x80:
                        responses_partitions_tagged.append(n)
                    else:
                        responses_partitions_tagged += write_uvarint(n)
                    responses_partitions_tagged += responses_partitions_diverging_epoch_content
                if responses_partitions_item.current_leader != LeaderIdAndEpoch():
                    responses_partitions_tag_count += 1
                    responses_partitions_tagged.append(1)
                    responses_partitions_current_leader_content = bytearray()
                    responses_partitions_current_leader = responses_partitions_item.current_leader
                    responses_partitions_current_leader_content += pack_iix(responses_partitions_current_leader.leader_id, responses_partitions_current_leader.leader_epoch)
                    n = len(responses_partitions_current_leader_content)
                    if n < 0x80:
                        responses_partitions_tagged.append(n)
                    else:
                        responses_partitions_tagged += write_uvarint(n)
                    responses_partitions_tagged += responses_partitions_current_leader_content
                if responses_partitions_item.snapshot_id != SnapshotId():
                    responses_partitions_tag_count += 1
                    responses_partitions_tagged.append(2)
                    responses_partitions_snapshot_id_content = bytearray()
                    responses_partitions_snapshot_id = responses_partitions_item.snapshot_id
                    responses_partitions_snapshot_id_content += pack_qix(responses_partitions_snapshot_id.end_offset, responses_partitions_snapshot_id.epoch)
                    n = len(responses_partitions_snapshot_id_content)
                    if n < 0x80:
                        responses_partitions_tagged.append(n)
                    else:
                        responses_partitions_tagged += write_uvarint(n)
                    responses_partitions_tagged += responses_partitions_snapshot_id_content
                out.append(responses_partitions_tag_count)
                out += responses_partitions_tagged
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchResponse", version) from error


def encode_fetch_response_v13(msg: FetchResponse, out: bytearray, version: int = 13) -> None:
    start = len(out)
    try:
        if msg.node_endpoints:
            raise not_in_version("node_endpoints")
        responses = msg.responses
        n = len(responses) + 1
        if n < 0x80:
            out += pack_ihiB(msg.throttle_time_ms, msg.error_code, msg.session_id, n)
        else:
            out += pack_ihi(msg.throttle_time_ms, msg.error_code, msg.session_id)
            out += write_uvarint(n)
        for responses_item in responses:
            if len(responses_item.topic_id) != 16:
                raise BadField("responses.topic_id", "a UUID has 16 bytes")
            responses_partitions = responses_item.partitions
            n = len(responses_partitions) + 1
            if n < 0x80:
                out += pack_uB(responses_item.topic_id, n)
            else:
                out += pack_u(responses_item.topic_id)
                out += write_uvarint(n)
            for responses_partitions_item in responses_partitions:
                responses_partitions_aborted_transactions = responses_partitions_item.aborted_transactions
                if responses_partitions_aborted_transactions is None:
                    out += pack_ihqqqx(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, responses_partitions_item.log_start_offset)
                else:
                    n = len(responses_partitions_aborted_transactions) + 1
                    if n < 0x80:
                        out += pack_ihqqqB(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, responses_partitions_item.log_start_offset, n)
                    else:
                        out += pack_ihqqq(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, responses_partitions_item.log_start_offset)
                        out += write_uvarint(n)
                    out += b"".join([pack_qqx(responses_partitions_aborted_transactions_item.producer_id, responses_partitions_aborted_transactions_item.first_offset) for responses_partitions_aborted_transactions_item in responses_partitions_aborted_transactions])
                data = responses_partitions_item.records
                if data is None:
                    n, raw = 0, b""
                else:
                    raw = data
                    n = len(raw) + 1
                if n < 0x80:
                    out += pack_iB(responses_partitions_item.preferred_read_replica, n)
                else:
                    out += pack_i(responses_partitions_item.preferred_read_replica)
                    out += write_uvarint(n)
                out += raw
                responses_partitions_tag_count = 0
                responses_partitions_tagged = bytearray()
                if responses_partitions_item.diverging_epoch != EpochEndOffset():
                    responses_partitions_tag_count += 1
                    responses_partitions_tagged.append(0)
                    responses_partitions_diverging_epoch_content = bytearray()
                    responses_partitions_diverging_epoch = responses_partitions_item.diverging_epoch
                    responses_partitions_diverging_epoch_content += pack_iqx(responses_partitions_diverging_epoch.epoch, responses_partitions_diverging_epoch.end_offset)
                    n = len(responses_partitions_diverging_epoch_content)
                    if n < 0x80:
                        responses_partitions_tagged.append(n)
                    else:
                        responses_partitions_tagged += write_uvarint(n)
                    responses_partitions_tagged += responses_partitions_diverging_epoch_content
                if responses_partitions_item.current_leader != LeaderIdAndEpoch():
                    responses_partitions_tag_count += 1
                    responses_partitions_tagged.append(1)
                    responses_partitions_current_leader_content = bytearray()
                    responses_partitions_current_leader = responses_partitions_item.current_leader
                    responses_partitions_current_leader_content += pack_iix(responses_partitions_current_leader.leader_id, responses_partitions_current_leader.leader_epoch)
                    n = len(responses_partitions_current_leader_content)
                    if n < 0x80:
                        responses_partitions_tagged.append(n)
                    else:
                        responses_partitions_tagged += write_uvarint(n)
                    responses_partitions_tagged += responses_partitions_current_leader_content
                if responses_partitions_item.snapshot_id != SnapshotId():
                    responses_partitions_tag_count += 1
                    responses_partitions_tagged.append(2)
                    responses_partitions_snapshot_id_content = bytearray()
                    responses_partitions_snapshot_id = responses_partitions_item.snapshot_id
                    responses_partitions_snapshot_id_content += pack_qix(responses_partitions_snapshot_id.end_offset, responses_partitions_snapshot_id.epoch)
                    n = len(responses_partitions_snapshot_id_content)
                    if n < 0x80:
                        responses_partitions_tagged.append(n)
                    else:
                        responses_partitions_tagged += write_uvarint(n)
                    responses_partitions_tagged += responses_partitions_snapshot_id_content
                out.append(responses_partitions_tag_count)
                out += responses_partitions_tagged
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchResponse", version) from error


encode_fetch_response_v14 = at_version(encode_fetch_response_v13, 14)


encode_fetch_response_v15 = at_version(encode_fetch_response_v13, 15)


def encode_fetch_response_v16(msg: FetchResponse, out: bytearray, version: int = 16) -> None:
    start = len(out)
    try:
        responses = msg.responses
        n = len(responses) + 1
        if n < 0x80:
            out += pack_ihiB(msg.throttle_time_ms, msg.error_code, msg.session_id, n)
        else:
            out += pack_ihi(msg.throttle_time_ms, msg.error_code, msg.session_id)
            out += write_uvarint(n)
        for responses_item in responses:
            if len(responses_item.topic_id) != 16:
                raise BadField("responses.topic_id", "a UUID has 16 bytes")
            responses_partitions = responses_item.partitions
            n = len(responses_partitions) + 1
            if n < 0x80:
                out += pack_uB(responses_item.topic_id, n)
            else:
                out += pack_u(responses_item.topic_id)
                out += write_uvarint(n)
            for responses_partitions_item in responses_partitions:
                responses_partitions_aborted_transactions = responses_partitions_item.aborted_transactions
                if responses_partitions_aborted_transactions is None:
                    out += pack_ihqqqx(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, responses_partitions_item.log_start_offset)
                else:
                    n = len(responses_partitions_aborted_transactions) + 1
                    if n < 0x80:
                        out += pack_ihqqqB(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, responses_partitions_item.log_start_offset, n)
                    else:
                        out += pack_ihqqq(responses_partitions_item.partition_index, responses_partitions_item.error_code, responses_partitions_item.high_watermark, responses_partitions_item.last_stable_offset, responses_partitions_item.log_start_offset)
                        out += write_uvarint(n)
                    out += b"".join([pack_qqx(responses_partitions_aborted_transactions_item.producer_id, responses_partitions_aborted_transactions_item.first_offset) for responses_partitions_aborted_transactions_item in responses_partitions_aborted_transactions])
                data = responses_partitions_item.records
                if data is None:
                    n, raw = 0, b""
                else:
                    raw = data
                    n = len(raw) + 1
                if n < 0x80:
                    out += pack_iB(responses_partitions_item.preferred_read_replica, n)
                else:
                    out += pack_i(responses_partitions_item.preferred_read_replica)
                    out += write_uvarint(n)
                out += raw
                responses_partitions_tag_count = 0
                responses_partitions_tagged = bytearray()
                if responses_partitions_item.diverging_epoch != EpochEndOffset():
                    responses_partitions_tag_count += 1
                    responses_partitions_tagged.append(0)
                    responses_partitions_diverging_epoch_content = bytearray()
                    responses_partitions_diverging_epoch = responses_partitions_item.diverging_epoch
                    responses_partitions_diverging_epoch_content += pack_iqx(responses_partitions_diverging_epoch.epoch, responses_partitions_diverging_epoch.end_offset)
                    n = len(responses_partitions_diverging_epoch_content)
                    if n < 0x80:
                        responses_partitions_tagged.append(n)
                    else:
                        responses_partitions_tagged += write_uvarint(n)
                    responses_partitions_tagged += responses_partitions_diverging_epoch_content
                if responses_partitions_item.current_leader != LeaderIdAndEpoch():
                    responses_partitions_tag_count += 1
                    responses_partitions_tagged.append(1)
                    responses_partitions_current_leader_content = bytearray()
                    responses_partitions_current_leader = responses_partitions_item.current_leader
                    responses_partitions_current_leader_content += pack_iix(responses_partitions_current_leader.leader_id, responses_partitions_current_leader.leader_epoch)
                    n = len(responses_partitions_current_leader_content)
                    if n < 0x80:
                        responses_partitions_tagged.append(n)
                    else:
                        responses_partitions_tagged += write_uvarint(n)
                    responses_partitions_tagged += responses_partitions_current_leader_content
                if responses_partitions_item.snapshot_id != SnapshotId():
                    responses_partitions_tag_count += 1
                    responses_partitions_tagged.append(2)
                    responses_partitions_snapshot_id_content = bytearray()
                    responses_partitions_snapshot_id = responses_partitions_item.snapshot_id
                    responses_partitions_snapshot_id_content += pack_qix(responses_partitions_snapshot_id.end_offset, responses_partitions_snapshot_id.epoch)
                    n = len(responses_partitions_snapshot_id_content)
                    if n < 0x80:
                        responses_partitions_tagged.append(n)
                    else:
                        responses_partitions_tagged += write_uvarint(n)
                    responses_partitions_tagged += responses_partitions_snapshot_id_content
                out.append(responses_partitions_tag_count)
                out += responses_partitions_tagged
            out.append(0)
        if msg.node_endpoints:
            out += pack_BB(1, 0)
            node_endpoints_content = bytearray()
            node_endpoints = msg.node_endpoints
            n = len(node_endpoints) + 1
            if n < 0x80:
                node_endpoints_content.append(n)
            else:
                node_endpoints_content += write_uvarint(n)
            for node_endpoints_item in node_endpoints:
                raw = node_endpoints_item.host.encode()
                n = len(raw) + 1
                if n < 0x80:
                    node_endpoints_content += pack_iB(node_endpoints_item.node_id, n)
                else:
                    node_endpoints_content += pack_i(node_endpoints_item.node_id)
                    node_endpoints_content += write_string_size(n)
                node_endpoints_content += raw
                text = node_endpoints_item.rack
                if text is None:
                    n, raw = 0, b""
                else:
                    raw = text.encode()
                    n = len(raw) + 1
                if n < 0x80:
                    node_endpoints_content += pack_iB(node_endpoints_item.port, n)
                else:
                    node_endpoints_content += pack_i(node_endpoints_item.port)
                    node_endpoints_content += write_string_size(n)
                node_endpoints_content += raw
                node_endpoints_content.append(0)
            n = len(node_endpoints_content)
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += node_endpoints_content
        else:
            out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FetchResponse", version) from error


encode_fetch_response_v17 = at_version(encode_fetch_response_v16, 17)


encode_fetch_response_v18 = at_version(encode_fetch_response_v16, 18)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    FetchRequest: {
        4: decode_fetch_request_v4,
        5: decode_fetch_request_v5,
        6: decode_fetch_request_v6,
        7: decode_fetch_request_v7,
        8: decode_fetch_request_v8,
        9: decode_fetch_request_v9,
        10: decode_fetch_request_v10,
        11: decode_fetch_request_v11,
        12: decode_fetch_request_v12,
        13: decode_fetch_request_v13,
        14: decode_fetch_request_v14,
        15: decode_fetch_request_v15,
        16: decode_fetch_request_v16,
        17: decode_fetch_request_v17,
        18: decode_fetch_request_v18,
    },
    FetchResponse: {
        4: decode_fetch_response_v4,
        5: decode_fetch_response_v5,
        6: decode_fetch_response_v6,
        7: decode_fetch_response_v7,
        8: decode_fetch_response_v8,
        9: decode_fetch_response_v9,
        10: decode_fetch_response_v10,
        11: decode_fetch_response_v11,
        12: decode_fetch_response_v12,
        13: decode_fetch_response_v13,
        14: decode_fetch_response_v14,
        15: decode_fetch_response_v15,
        16: decode_fetch_response_v16,
        17: decode_fetch_response_v17,
        18: decode_fetch_response_v18,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    FetchRequest: {
        4: encode_fetch_request_v4,
        5: encode_fetch_request_v5,
        6: encode_fetch_request_v6,
        7: encode_fetch_request_v7,
        8: encode_fetch_request_v8,
        9: encode_fetch_request_v9,
        10: encode_fetch_request_v10,
        11: encode_fetch_request_v11,
        12: encode_fetch_request_v12,
        13: encode_fetch_request_v13,
        14: encode_fetch_request_v14,
        15: encode_fetch_request_v15,
        16: encode_fetch_request_v16,
        17: encode_fetch_request_v17,
        18: encode_fetch_request_v18,
    },
    FetchResponse: {
        4: encode_fetch_response_v4,
        5: encode_fetch_response_v5,
        6: encode_fetch_response_v6,
        7: encode_fetch_response_v7,
        8: encode_fetch_response_v8,
        9: encode_fetch_response_v9,
        10: encode_fetch_response_v10,
        11: encode_fetch_response_v11,
        12: encode_fetch_response_v12,
        13: encode_fetch_response_v13,
        14: encode_fetch_response_v14,
        15: encode_fetch_response_v15,
        16: encode_fetch_response_v16,
        17: encode_fetch_response_v17,
        18: encode_fetch_response_v18,
    },
}
