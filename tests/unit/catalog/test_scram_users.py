"""Alterations and descriptions of SCRAM credentials, with Kafka's answers."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest

from coordinator_server.catalog.scram_users import (
    MAX_CHANGES,
    SCRAM_USERS,
    CredentialKey,
    ScramMechanism,
    credential_record,
    describe_credentials,
)
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import LATEST
from protocol.error_codes import ErrorCode
from protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from protocol.messages.describe_user_scram_credentials import CredentialInfo, DescribeUserScramCredentialsResult
from tests.support.catalog import Catalog
from tests.support.configs import config_with

SALT, SALTED = b"0123456789ab", b"salted password"


@pytest.fixture
def catalog() -> Catalog:
    return Catalog(config_with(scram_credentials_max=3))


def put(user: str, mechanism: int = 1, iterations: int = 4096, salt: bytes = SALT) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(user, mechanism, iterations, salt, SALTED)


def altered(catalog: Catalog, *changes: ScramCredentialUpsertion | ScramCredentialDeletion) -> dict[str, tuple[int, str | None]]:
    deletions = [each for each in changes if isinstance(each, ScramCredentialDeletion)]
    upsertions = [each for each in changes if isinstance(each, ScramCredentialUpsertion)]
    request = AlterUserScramCredentialsRequest(deletions, upsertions)
    answer = catalog.run(CatalogShard.alter_scram_users, request, AlterUserScramCredentialsResponse)
    return {each.user: (each.error_code, each.error_message) for each in answer.results}


def described(catalog: Catalog, *names: str) -> list[DescribeUserScramCredentialsResult]:
    return describe_credentials(catalog.shard.records(LATEST, SCRAM_USERS), names)


def test_the_password_is_not_stored() -> None:
    """But what proves it: the client of RFC 7677's example proves the stored key, and its server signs with the server's."""
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", salt, 4096)
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    signed = f"n=user,r=rOprNGfwEbeRWgbNEkqO,r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r={nonce}".encode()
    proof = base64.b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")

    record = credential_record("user", ScramMechanism.SCRAM_SHA_256, salt, salted, 4096)

    signature = hmac.digest(record.stored_key, signed, "sha256")
    client_key = bytes(one ^ other for one, other in zip(proof, signature, strict=True))
    assert hashlib.sha256(client_key).digest() == record.stored_key
    server_signature = hmac.digest(record.server_key, signed, "sha256")
    assert server_signature == base64.b64decode("6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
    assert (record.name, record.mechanism, record.salt, record.iterations) == ("user", 1, salt, 4096)


def test_credentials_are_set_replaced_and_removed(catalog: Catalog) -> None:
    """One for each mechanism."""
    done = (ErrorCode.NONE, None)

    assert altered(catalog, put("alice"), put("bob", 2)) == {"alice": done, "bob": done}
    assert altered(catalog, put("alice", 2)) == altered(catalog, put("alice", 1, 8192)) == {"alice": done}
    assert described(catalog, "alice") == [
        DescribeUserScramCredentialsResult("alice", 0, "", [CredentialInfo(1, 8192), CredentialInfo(2, 4096)])
    ]
    assert altered(catalog, ScramCredentialDeletion("bob", 2)) == {"bob": done}
    assert [each.user for each in described(catalog)] == ["alice"]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (put(""), ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"),
        (put("alice", 3), ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
        (put("alice", 0), ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
        (put("alice", 1, 4095), ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations"),
        (put("alice", 1, 16385), ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations"),
        (put("alice", salt=b"short"), ErrorCode.UNACCEPTABLE_CREDENTIAL, "The salt must have at least 12 bytes"),
        (ScramCredentialDeletion("", 1), ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"),
        (ScramCredentialDeletion("alice", 9), ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
        (
            ScramCredentialDeletion("alice", 1),
            ErrorCode.RESOURCE_NOT_FOUND,
            "Attempt to delete a user credential that does not exist",
        ),
    ],
)
def test_a_refused_change_of_a_user_writes_no_record(
    catalog: Catalog, change: ScramCredentialUpsertion | ScramCredentialDeletion, error: ErrorCode, message: str
) -> None:
    """And does not keep the others from being made."""
    answers = altered(catalog, change, put("bob"))

    assert answers == {change.name: (error, message), "bob": (ErrorCode.NONE, None)}
    assert [each.user for each in described(catalog)] == ["bob"]


def test_a_user_is_altered_once_in_a_request(catalog: Catalog) -> None:
    """Whatever the mechanism."""
    twice = (ErrorCode.DUPLICATE_RESOURCE, "A user credential cannot be altered twice in the same request")

    assert altered(catalog, put("alice"), put("alice", 2), put("bob"), ScramCredentialDeletion("bob", 1)) == dict.fromkeys(
        ["bob", "alice"], twice
    )
    assert described(catalog) == []


def test_there_are_so_many_credentials_at_most(catalog: Catalog) -> None:
    """A credential that is replaced is none more."""
    answers = altered(catalog, *(put(f"user-{number}") for number in range(5)))
    assert [code for code, _ in answers.values()] == [0, 0, 0, *[ErrorCode.POLICY_VIOLATION] * 2]

    assert altered(catalog, put("user-0", iterations=8192), put("user-9")) == {
        "user-0": (0, None),
        "user-9": (ErrorCode.POLICY_VIOLATION, "There are scram.credentials.max credentials"),
    }
    many = [ScramCredentialDeletion(f"user-{number}", 1) for number in range(MAX_CHANGES + 1)]
    with pytest.raises(CoordinatorError, match="at most 1000 changes"):
        altered(catalog, *many)


def test_who_is_asked_for_twice_or_unknown_is_said(catalog: Catalog) -> None:
    altered(catalog, put("alice"))

    assert [(each.user, each.error_code) for each in described(catalog, "alice", "bob", "carol", "carol")] == [
        ("alice", ErrorCode.NONE),
        ("bob", ErrorCode.RESOURCE_NOT_FOUND),
        ("carol", ErrorCode.DUPLICATE_RESOURCE),
    ]


def test_a_credential_is_found_by_user_and_mechanism(catalog: Catalog) -> None:
    altered(catalog, put("alice", 2))

    assert catalog.shard.record(LATEST, SCRAM_USERS, CredentialKey("alice", 1)) is None
    assert catalog.shard.record(LATEST, SCRAM_USERS, CredentialKey("alice", ScramMechanism.SCRAM_SHA_512)).salt == SALT
