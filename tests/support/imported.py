"""Records of imported groups, of every type that is not served, as hypothesis draws them: any value that Kafka's schema allows."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from hypothesis import strategies as st

from protocol.coordinator_records import CLASSIC_GROUP_SERDE, GROUP_SERDE, CoordinatorRecord
from protocol.fields import Message
from tests.support.oracle import Value, schema
from tests.support.protocol_values import as_struct, distinct, filled, random_value

IMPORTED: Final = {key: value for number, (key, value) in GROUP_SERDE.types.items() if number not in CLASSIC_GROUP_SERDE.types}
"""Value by key."""
_UNKNOWN_TAG: Final = 90


def imported_key(key_type: type[Message], group_id: str, rest: str = "m") -> Message:
    """The key of a group's record; ``rest`` is the member or the regular expression, where there is one."""
    return key_type(group_id, rest) if len(key_type.__struct_fields__) > 1 else key_type(group_id)


def imported_value(key_type: type[Message], number: int) -> Message:
    """A value of that record type with every field set; another one for each number."""
    name, version = _value_of(key_type)
    return as_struct(name, version, _filled(key_type, number))


def imported_bytes(key_type: type[Message], number: int) -> bytes:
    """The same as it stands in a log of a later release: with a tagged field that nobody here knows."""
    name, version = _value_of(key_type)
    tagged = schema(name, version).encode(_filled(key_type, number), unknown_tags={_UNKNOWN_TAG: b"later"})
    return version.to_bytes(2) + tagged


def imported_records(group_ids: Sequence[str]) -> st.SearchStrategy[CoordinatorRecord]:
    """Few groups and members, so that keys meet: values of a group's records of all types, and tombstones."""
    keys = st.builds(imported_key, st.sampled_from(list(IMPORTED)), st.sampled_from(group_ids), st.sampled_from("mn"))
    return st.builds(_record, keys, st.none() | st.integers(0, 5))


def _record(key: Message, seed: int | None) -> CoordinatorRecord:
    if seed is None:
        return CoordinatorRecord(key, None)
    name, version = _value_of(type(key))
    value = random_value(schema(name, version), Random(seed))
    return CoordinatorRecord(key, as_struct(name, version, value), version)


def _filled(key_type: type[Message], number: int) -> Value:
    name, version = _value_of(key_type)
    return filled(schema(name, version), lambda field, index: distinct(field, index + 30 * number))


def _value_of(key_type: type[Message]) -> tuple[str, int]:
    value = IMPORTED[key_type]
    return value.__name__, value.kafka.versions.high
