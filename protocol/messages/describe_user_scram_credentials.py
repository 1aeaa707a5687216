"""DescribeUserScramCredentials (50): which SCRAM credentials users have, never the secrets (KIP-554)."""

from __future__ import annotations

from protocol.fields import Int8, Int16, Int32, Item, Message, String, request, response


class DescribeUserScramCredentialsRequest(Message):
    kafka = request(50, "0", flexible="0+")
    users: list[UserName] | None = []


class UserName(Item):
    name: String = ""


class DescribeUserScramCredentialsResponse(Message):
    kafka = response(50, "0", flexible="0+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = ""
    results: list[DescribeUserScramCredentialsResult] = []


class DescribeUserScramCredentialsResult(Item):
    user: String = ""
    error_code: Int16 = 0
    error_message: String | None = ""
    credential_infos: list[CredentialInfo] = []


class CredentialInfo(Item):
    mechanism: Int8 = 0
    iterations: Int32 = 0
