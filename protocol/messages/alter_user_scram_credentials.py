"""AlterUserScramCredentials (51): set or remove SCRAM credentials of users (KIP-554)."""

from __future__ import annotations

from protocol.fields import Bytes, Int8, Int16, Int32, Item, Message, String, request, response


class AlterUserScramCredentialsRequest(Message):
    kafka = request(51, "0", flexible="0+")
    deletions: list[ScramCredentialDeletion] = []
    upsertions: list[ScramCredentialUpsertion] = []


class ScramCredentialDeletion(Item):
    name: String = ""
    mechanism: Int8 = 0


class ScramCredentialUpsertion(Item):
    name: String = ""
    mechanism: Int8 = 0
    iterations: Int32 = 0
    salt: Bytes = b""
    salted_password: Bytes = b""


class AlterUserScramCredentialsResponse(Message):
    kafka = response(51, "0", flexible="0+")
    throttle_time_ms: Int32 = 0
    results: list[AlterUserScramCredentialsResult] = []


class AlterUserScramCredentialsResult(Item):
    user: String = ""
    error_code: Int16 = 0
    error_message: String | None = ""
