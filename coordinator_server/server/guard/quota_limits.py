"""Which quota a client has: by user and client id, with defaults (Kafka's ``ClientQuotaManager.DefaultQuotaCallback``).

The first of these that exists counts. The clients that it covers are measured together:

    user and client id, user and any client id, user,
    any user and client id, any user and any client id, any user,
    client id, any client id

As in Kafka, if all quotas are of one kind (of users, of client ids, or of both), only that kind distinguishes clients. Unlike
there, a client with an empty client id is one of any client id: an empty one would evade the quota.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from coordinator_server.catalog.client_quotas import key_of
from coordinator_server.catalog.quota_names import CLIENT_ID, IP, USER
from protocol.messages.cluster_metadata import ClientQuotaRecord

ANY: Final = ""
"""The name of the default entity, which an empty client id is a case of. No user's name is empty."""

Measured = tuple[str | None, str | None]
"""A user and a client id that are measured together. One that is None does not distinguish clients."""

_Key = tuple[str | None, str | None]


class QuotaLimits:
    """The quotas of one name, of users and client ids."""

    def __init__(self, records: Iterable[ClientQuotaRecord], name: str) -> None:
        self._limits: dict[_Key, float] = {}
        for record in records:
            entity = dict(key_of(record).entity)
            if record.key == name and entity and IP not in entity:
                self._limits[_part(entity, USER), _part(entity, CLIENT_ID)] = record.value
        self._kinds = {(user is not None, client_id is not None) for user, client_id in self._limits}

    def __bool__(self) -> bool:
        return bool(self._limits)

    def measured(self, user: str, client_id: str) -> Measured:
        """Return with whom a client is measured together."""
        if len(self._kinds) == 1:
            [(has_user, has_client_id)] = self._kinds
            return user if has_user else None, client_id if has_client_id else None
        limits = self._limits
        for of_user in (user, ANY):
            if (of_user, client_id) in limits or (of_user, ANY) in limits:
                return user, client_id
            if (of_user, None) in limits:
                return user, None
        return None, client_id

    def limit(self, measured: Measured) -> float | None:
        """Return the quota of those who are measured together, or None."""
        user, client_id = measured
        users = (None,) if user is None else (user, ANY)
        client_ids = (None,) if client_id is None else (client_id, ANY)
        keys: list[_Key] = [(of_user, of_client) for of_user in users for of_client in client_ids]
        return next((self._limits[key] for key in keys if key in self._limits), None)


def _part(entity: dict[str, str | None], kind: str) -> str | None:
    return (entity[kind] or ANY) if kind in entity else None
