"""The messages between loops: each is told from the others of its link, and comes out as it went in."""

from __future__ import annotations

from types import UnionType
from typing import Any, get_args

import msgspec
import pytest

from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.server.cluster import messages

LINKS = {name: value for name, value in vars(messages).items() if name.startswith("From")}
OWNED = Ownership(ShardId("topic", 3), 5)
VALUES: dict[Any, Any] = {int: 7, str: "text", bytes: b"bytes", Ownership: OWNED, Ownership | None: OWNED}


def made(kind: type[msgspec.Struct]) -> msgspec.Struct:
    values = {field.name: VALUES.get(field.type) for field in msgspec.structs.fields(kind)}
    return kind(**{name: value for name, value in values.items() if value is not None})


@pytest.mark.parametrize("link", sorted(LINKS))
def test_every_message_is_read_as_itself(link: str) -> None:
    union: UnionType = LINKS[link]
    for kind in get_args(union):
        message = made(kind)

        read = msgspec.msgpack.Decoder(union).decode(msgspec.msgpack.encode(message))

        assert (type(read), read) == (kind, message)
