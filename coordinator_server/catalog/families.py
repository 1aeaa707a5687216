"""The record families of the catalog: one row each."""

from __future__ import annotations

from typing import Final

from coordinator_server.catalog.acls import ACLS
from coordinator_server.catalog.client_quotas import CLIENT_QUOTAS
from coordinator_server.catalog.family import RecordFamily
from coordinator_server.catalog.scram_users import SCRAM_USERS

FAMILIES: Final[tuple[RecordFamily, ...]] = (SCRAM_USERS, ACLS, CLIENT_QUOTAS)
