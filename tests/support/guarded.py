"""A server with an authorizer, whose clients have certificates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from coordinator_server.config.access import STANDARD_AUTHORIZER
from protocol.acl_codes import PatternType, Permission
from protocol.error_codes import ErrorCode
from protocol.messages.create_acls import AclCreation, CreateAclsRequest, CreateAclsResponse
from protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest, DeleteAclsResponse
from tests.support.certificates import Authority
from tests.support.client import Client
from tests.support.server import Server
from tests.support.trusting import trusting

AUTHORITY: Final = Authority()
PROPERTIES: Final = {
    "listeners": "MUTUAL://127.0.0.1:0",
    "listener.security.protocol.map": "MUTUAL:SSL",
    "ssl.client.auth": "required",
    "ssl.principal.mapping.rules": "RULE:CN=([a-z]*)/$1/",
    "authorizer.class.name": STANDARD_AUTHORIZER,
    "super.users": "User:admin",
    "topics": "orders:1,secrets:1,t:1",
}
DENIALS: Final = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}


class Guarded(Server):
    """A server whose clients have certificates. ``admin`` is a super user."""

    def __init__(self, directory: Path, loops: int = 1, properties: Mapping[str, Any] = {}) -> None:
        self.keys = directory / "keys"
        self.keys.mkdir(parents=True)
        files = {
            "ssl.keystore.location": AUTHORITY.issue("server").write(self.keys / "server.pem"),
            "ssl.truststore.location": AUTHORITY.write(self.keys / "trusted.pem"),
        }
        super().__init__(directory, {**PROPERTIES, **files, **properties}, loops)
        self._contexts: dict[str, Any] = {}

    def client(self, name: str, loop: int = 0) -> Client:
        if name not in self._contexts:
            self._contexts[name] = trusting(AUTHORITY, AUTHORITY.issue(name), self.keys)
        return Client.over_tls(("127.0.0.1", self.listeners["MUTUAL"][loop]), self._contexts[name])

    def allow(self, name: str, operation: int, kind: int, resource: str, *, loop: int = 0, **others: Any) -> None:
        """Add an entry, as ``admin``."""
        with self.client("admin", loop) as admin:
            acl = entry(name, operation, kind, resource, **others)
            answer = admin.ask(CreateAclsRequest([acl]), 3, CreateAclsResponse)
        assert [each.error_code for each in answer.results] == [0]

    def revoke(self, name: str) -> int:
        """Remove all entries of a user; return their number."""
        with self.client("admin") as admin:
            selecting = DeleteAclsFilter(1, None, 1, f"User:{name}", None, 1, 1)
            answer = admin.ask(DeleteAclsRequest([selecting]), 3, DeleteAclsResponse)
        return len(answer.filter_results[0].matching_acls)


def entry(
    name: str,
    operation: int,
    kind: int,
    resource: str,
    *,
    permission: int = Permission.ALLOW,
    pattern_type: int = PatternType.LITERAL,
) -> AclCreation:
    return AclCreation(kind, resource, pattern_type, f"User:{name}", "*", operation, permission)
