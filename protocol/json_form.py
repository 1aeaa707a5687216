"""Messages as JSON, in the form of Kafka's JsonConverter classes.

Names are those of the schema with a lower-case first letter. Bytes are base64. A UUID is its 16 bytes in URL-safe base64 without
padding. A tagged field is present only if it differs from its default. A field that the version lacks is absent. Records are base64
too, whereas Kafka's converters write only their size.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode, urlsafe_b64decode
from collections.abc import Callable
from typing import Any, Final, TypeVar

from protocol.errors import BadJson
from protocol.fields import Item, Message, Primitive, uuid_text
from protocol.schema import FieldSpec, fields_of

M = TypeVar("M", bound=Message)
_BYTES: Final = (Primitive.BYTES, Primitive.RECORDS)


def to_json(message: Message | Item, version: int) -> dict[str, Any]:
    """Return the JSON of a message in a version. Values that the version lacks are omitted."""
    node = {}
    for field in fields_of(type(message)):
        value = getattr(message, field.name)
        if version in field.versions and (version not in field.tagged or value != field.default):
            node[json_name(field.name)] = _value_to_json(field, value, version)
    return node


def from_json(message: type[M], version: int, node: object) -> M:
    """Return the message of a JSON value. Raises BadJson, with the field, for missing, unknown and invalid fields."""
    value: M = _struct(message, version, node, "")
    return value


def json_name(name: str) -> str:
    """Return the JSON name of a field: ``groupId`` for ``group_id``."""
    return re.sub(r"_(.)", lambda match: match[1].upper(), name)


def _value_to_json(field: FieldSpec, value: Any, version: int) -> Any:
    if value is None:
        return None
    if field.is_array:
        return [_element_to_json(field, element, version) for element in value]
    return _element_to_json(field, value, version)


def _element_to_json(field: FieldSpec, value: Any, version: int) -> Any:
    if not isinstance(field.type, Primitive):
        return to_json(value, version)
    if field.type in _BYTES:
        return b64encode(value).decode()
    if field.type is Primitive.UUID:
        return uuid_text(value)
    return value


def _struct(struct: type[Message | Item], version: int, node: object, path: str) -> Any:
    if not isinstance(node, dict):
        raise BadJson(path or struct.__name__, f"a JSON object is wanted here, not {_kind(node)}")
    fields = {json_name(field.name): field for field in fields_of(struct) if version in field.versions}
    for name in node:
        if name not in fields:
            raise BadJson(
                _join(path, name), f"{struct.__name__} v{version} has no such field; it has {', '.join(fields) or 'none'}"
            )
    values = {}
    for name, field in fields.items():
        if name in node:
            values[field.name] = _value(field, version, node[name], _join(path, name))
        elif version not in field.tagged:
            raise BadJson(_join(path, name), f"is missing: v{version} has it")
    return struct(**values)


def _value(field: FieldSpec, version: int, node: object, path: str) -> Any:
    if node is None:
        if version not in field.nullable:
            raise BadJson(path, "null is not allowed")
        return None
    if not field.is_array:
        return _element(field, version, node, path)
    if not isinstance(node, list):
        raise BadJson(path, f"a JSON array is wanted here, not {_kind(node)}")
    return [_element(field, version, element, f"{path}[{index}]") for index, element in enumerate(node)]


def _element(field: FieldSpec, version: int, node: object, path: str) -> Any:
    if not isinstance(field.type, Primitive):
        return _struct(field.type, version, node, path)
    try:
        read: Callable[[Any], Any] = _READERS.get(field.type, _integer)
        return read(node)
    except (TypeError, ValueError, binascii.Error):
        raise BadJson(path, f"{_kind(node)} is no {field.type.value}") from None


def _boolean(node: Any) -> bool:
    if not isinstance(node, bool):
        raise TypeError
    return node


def _integer(node: Any) -> int:
    if not isinstance(node, int) or isinstance(node, bool):
        raise TypeError
    return node


def _float(node: Any) -> float:
    if not isinstance(node, float):
        return float(_integer(node))
    return node


def _string(node: Any) -> str:
    if not isinstance(node, str):
        raise TypeError
    return node


def _bytes(node: Any) -> bytes:
    return b64decode(_string(node), validate=True)


def _uuid(node: Any) -> bytes:
    raw = urlsafe_b64decode(_string(node) + "==")
    if len(raw) != 16:
        raise ValueError
    return raw


_READERS: Final[dict[Primitive, Callable[[Any], Any]]] = {
    Primitive.BOOL: _boolean,
    Primitive.FLOAT64: _float,
    Primitive.STRING: _string,
    Primitive.BYTES: _bytes,
    Primitive.RECORDS: _bytes,
    Primitive.UUID: _uuid,
}


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _kind(node: object) -> str:
    text = repr(node)
    return text if len(text) <= 40 else text[:37] + "..."
