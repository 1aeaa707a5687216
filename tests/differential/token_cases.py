"""Logins with tokens, good and bad in every way, as steps that both servers are asked. The keys are new in each run."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from protocol.messages.describe_cluster import DescribeClusterRequest
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.support.client import Client, Closed
from tests.support.tokens import encoded, initial_response, jwk, private_key, token

ISSUER, AUDIENCE = "https://login.example/", "coordinator"
LISTENERS: Final[Mapping[str, Mapping[str, object]]] = {
    "OPEN": {},
    "STRICT": {"expected.audience": f"{AUDIENCE},other", "expected.issuer": ISSUER, "clock.skew.seconds": 5},
    "CLAIMS": {"sub.claim.name": "email", "scope.claim.name": "scp"},
}
# In the set of keys. Some of them cannot verify a signature.
NAMES: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "RS256-short")
SECRET: Final = b"a secret that both sides know, of 48 bytes or so.."
MECHANISM: Final = "OAUTHBEARER"


def document() -> dict[str, Any]:
    """The set of keys of both servers."""
    keys = [jwk(name) for name in NAMES]
    keys.append({"kty": "oct", "k": encoded(SECRET), "kid": "HS256"})
    keys.append(jwk("RS256-enc", use="enc"))
    keys.append(jwk("RS256-sig", use="sig", alg="RS256"))
    keys.append(jwk("RS256-alg", alg="RS512"))
    keys.append(jwk("ES256-ops", key_ops=["sign"]))
    return {"keys": keys}


class Login(NamedTuple):
    """What a client does on a listener. Each token is what it sends in a SaslAuthenticate."""

    tokens: tuple[bytes, ...]
    listener: str = "OPEN"
    # Whether it begins again when it is known: KIP-368.
    again: bytes | None = None
    is_bare: bool = False


def claims(**other: Any) -> dict[str, Any]:
    """Those of a good token, with others; None is left out."""
    now = int(time.time())
    found = {"sub": "alice", "iat": now, "exp": now + 300, **other}
    return {name: value for name, value in found.items() if value is not None}


def good(**other: Any) -> str:
    return token(claims(**other))


def of(text: str, *, listener: str = "OPEN") -> Login:
    """A client that does as RFC 7628 says if it is rejected."""
    return Login((initial_response(text), b"\x01"), listener)


def said(text: str) -> Login:
    return Login((text.encode(), b"\x01"))


def hmac_token(key: bytes, **header: Any) -> str:
    signed = f"{encoded({'alg': 'HS256', **header})}.{encoded(claims())}"
    return f"{signed}.{encoded(hmac.digest(key, signed.encode(), hashlib.sha256))}"


def public_pem(name: str) -> bytes:
    pem: bytes = private_key(name).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return pem


def signatures() -> dict[str, Login]:
    now, text = int(time.time()), good()
    head, body, signature = text.split(".")
    strict = f'"sub":"alice","iat":{now},"exp":{now + 300}'
    return {
        **{f"signed with {name}": of(token(claims(), name)) for name in NAMES},
        "a key for signatures, with its algorithm": of(token(claims(), "RS256-sig")),
        "a key for encryption": of(token(claims(), "RS256-enc")),
        "a key of another algorithm": of(token(claims(), "RS256-alg")),
        "a key for signing only": of(token(claims(), "ES256-ops")),
        "no id of a key": of(token(claims(), "RS256", {"kid": None})),
        "no id of a key, of the only one of a kind": of(token(claims(), "ES384", {"kid": None})),
        "another's signature": of(token(claims(), "RS256-other", {"kid": "RS256"})),
        "an unknown key": of(token(claims(), "RS256", {"kid": "unknown"})),
        "the id of a key is a number": of(token(claims(), "RS256", {"kid": 7})),
        "a key of another kind": of(token(claims(), "RS256", {"kid": "ES256"})),
        "a changed payload": of(f"{head}.{encoded(claims(sub='admin'))}.{signature}"),
        "a changed signature": of(f"{head}.{body}.{encoded(b'x' * 256)}"),
        "no signature": of(f"{head}.{body}."),
        "no algorithm": of(f"{encoded({'kid': 'RS256'})}.{body}.{signature}"),
        "alg none": of(f"{encoded({'alg': 'none'})}.{body}."),
        "alg none with a signature": of(f"{encoded({'alg': 'none'})}.{body}.{signature}"),
        "alg NONE": of(f"{encoded({'alg': 'NONE', 'kid': 'RS256'})}.{body}.{signature}"),
        "HS256 with the public key": of(hmac_token(public_pem("RS256"), kid="RS256")),
        "HS256 with a secret of the set": of(hmac_token(SECRET, kid="HS256")),
        "an algorithm that does not exist": of(f"{encoded({'alg': 'RS1', 'kid': 'RS256'})}.{body}.{signature}"),
        "alg is a number": of(f"{encoded({'alg': 1, 'kid': 'RS256'})}.{body}.{signature}"),
        "a critical header": of(token(claims(), "RS256", {"crit": ["exp"], "exp": 1})),
        "a header that brings its own key": of(token(claims(), "RS256-other", {"kid": "RS256", "jwk": jwk("RS256-other")})),
        "a header that says a name twice": of(token(claims(), "RS256", '{"alg":"RS256","kid":"RS256","kid":"RS256"}')),
        "a header that is no object": of(token(claims(), "RS256", '["RS256"]')),
        "a header that is not JSON": of(token(claims(), "RS256", "alg RS256")),
        "two parts": of(f"{head}.{body}"),
        "four parts": of(f"{text}.more"),
        "five parts": of(f"{text}.more.still"),
        "an empty part": of(f"{head}..{signature}"),
        "a dot at the end": of(f"{text}."),
        "one word": of("token"),
        "a payload that is not base64": of(f"{head}.a.{signature}"),
        "claims that are no object": of(token([claims()])),
        "claims that are not JSON": of(token("sub alice")),
        "a claim twice": of(token(f'{{{strict},"sub":"admin"}}')),
        "a claim twice, inside": of(token(f'{{{strict},"x":{{"a":1,"a":2}}}}')),
        "a nested token": of(token(text, "RS256", {"cty": "JWT"})),
        "a token in a token, which the header does not say": of(token(text)),
        "claims nested deeply": of(token("".join(('{"a":', "[" * 9000, "]" * 9000, f",{strict}}}")))),
        "claims that are large": of(good(groups=["a group of many"] * 500)),
        "padding": of(f"{head}.{body}.{signature}=="),
    }


def claim_cases() -> dict[str, Login]:
    now = int(time.time())
    return {
        "expired within the skew": of(good(exp=now - 10)),
        "expired": of(good(exp=now - 60)),
        "expired long ago": of(good(iat=1, exp=2)),
        "expired, with a small skew": of(good(exp=now - 10, aud=AUDIENCE, iss=ISSUER), listener="STRICT"),
        "no exp": of(good(exp=None)),
        "exp is a text": of(good(exp=str(now + 300))),
        "exp is null": of(token({**claims(), "exp": None})),
        "exp is true": of(good(exp=True)),
        "exp is a fraction": of(good(exp=now + 300.75)),
        "exp is a list": of(good(exp=[now + 300])),
        "exp is far away": of(good(exp=now + 10**9)),
        "exp is negative": of(good(exp=-1)),
        "no iat": of(good(iat=None)),
        "iat is a text": of(good(iat="now")),
        "iat is in the future": of(good(iat=now + 200)),
        "iat is after exp": of(good(iat=now + 400)),
        "iat is negative": of(good(iat=-5)),
        "not yet valid": of(good(nbf=now + 100)),
        "not yet valid, within the skew": of(good(nbf=now + 10)),
        "nbf is after exp": of(good(nbf=now + 400)),
        "nbf is a text": of(good(nbf="now")),
        "valid since a while": of(good(nbf=now - 100)),
        "no sub": of(good(sub=None)),
        "sub is a number": of(good(sub=7)),
        "sub is a list": of(good(sub=["alice"])),
        "sub is null": of(token({**claims(), "sub": None})),
        "sub is empty": of(good(sub="")),
        "sub is blank": of(good(sub=" \t")),
        "sub has blanks around": of(good(sub=" alice ")),
        "sub is not ASCII": of(good(sub="Åsa Öberg")),
        "an audience that nobody expects": of(good(aud="kafka")),
        "an empty list of audiences": of(good(aud=[])),
        "aud is a number": of(good(aud=7)),
        "issuer is a number": of(good(iss=7)),
        "an issuer that nobody expects": of(good(iss="anybody")),
        "jti is a number": of(good(jti=7)),
        "scopes": of(good(scope="read write")),
        "scopes as a list": of(good(scope=["read", "write"])),
        "a scope twice": of(good(scope=["read", "read"])),
        "an empty scope": of(good(scope="")),
        "an empty list of scopes": of(good(scope=[])),
        "an empty scope in a list": of(good(scope=["read", " "])),
        "scope is a number": of(good(scope=7)),
        "audience and issuer": of(good(aud=AUDIENCE, iss=ISSUER), listener="STRICT"),
        "one of the audiences": of(good(aud=["x", "other"], iss=ISSUER), listener="STRICT"),
        "another audience": of(good(aud="kafka", iss=ISSUER), listener="STRICT"),
        "no audience": of(good(iss=ISSUER), listener="STRICT"),
        "another issuer": of(good(aud=AUDIENCE, iss="https://login.example"), listener="STRICT"),
        "no issuer": of(good(aud=AUDIENCE), listener="STRICT"),
        "another claim with the name": of(good(email="alice@example", sub=None), listener="CLAIMS"),
        "another claim, and sub is a number": of(good(email="alice@example", sub=7), listener="CLAIMS"),
        "another claim that is missing": of(good(), listener="CLAIMS"),
        "another claim that is a number": of(good(email=7), listener="CLAIMS"),
        "another claim with scopes": of(good(email="alice@example", scp=["a", "a"]), listener="CLAIMS"),
        "scopes of another claim twice": of(good(email="alice@example", scope=["a", "a"]), listener="CLAIMS"),
    }


def exchanges() -> dict[str, Login]:
    text, bad = good(), good(exp=1, iat=0)
    return {
        "an authorization id": Login((initial_response(text, "alice"),)),
        "another authorization id": Login((initial_response(text, "bob"),)),
        "extensions": Login((initial_response(text, traceId="1 2", logicalCluster="lkc-1"),)),
        "an extension with a digit in its name": said(f"n,,\x01auth=Bearer {text}\x01a1=x\x01\x01"),
        "an extension that is empty": said(f"n,,\x01auth=Bearer {text}\x01a=\x01\x01"),
        "an extension that is not ASCII": said(f"n,,\x01auth=Bearer {text}\x01a=é\x01\x01"),
        "auth twice": said(f"n,,\x01auth=Bearer {bad}\x01auth=Bearer {text}\x01\x01"),
        "bearer in small letters": said(f"n,,\x01auth=bearer {text}\x01\x01"),
        "blanks before the token": said(f"n,,\x01auth=Bearer   {text}\x01\x01"),
        "another scheme": said(f"n,,\x01auth=Basic {text}\x01\x01"),
        "no auth": said("n,,\x01host=x\x01\x01"),
        "no pairs": said("n,,\x01\x01"),
        "no token": said("n,,\x01auth=Bearer \x01\x01"),
        "a token with a blank": said(f"n,,\x01auth=Bearer {text} x\x01\x01"),
        "one separator at the end": said(f"n,,\x01auth=Bearer {text}\x01"),
        "channel binding": said(f"y,,\x01auth=Bearer {text}\x01\x01"),
        "a name with an equals sign": said(f"n,a=a=b,\x01auth=Bearer {text}\x01\x01"),
        "a name with an escaped comma": said(f"n,a=a=2Cb,\x01auth=Bearer {text}\x01\x01"),
        "an empty name": said(f"n,a=,\x01auth=Bearer {text}\x01\x01"),
        "nothing": said(""),
        "one separator": said("\x01"),
        "bytes that are not UTF-8": Login((b"n,,\x01auth=Bearer \xff\x01\x01", b"\x01")),
        "a message of PLAIN": said("\0alice\0secret"),
        "another word after the refusal": Login((initial_response(bad), b"x")),
        "a second token after the refusal": Login((initial_response(bad), initial_response(text))),
        "a request after the refusal": Login((initial_response(bad),)),
        "again with a new token": Login((initial_response(text),), again=initial_response(good(exp=int(time.time()) + 600))),
        "again with an expired token": Login((initial_response(text),), again=initial_response(bad)),
        "again as another": Login((initial_response(text),), again=initial_response(good(sub="bob"))),
        "bare tokens": Login((initial_response(text),), is_bare=True),
        "a bare token that is not valid": Login((initial_response(bad), b"\x01"), is_bare=True),
        "a token of 40 KiB": of(good(groups=["x" * 30_000])),
    }


def every_login() -> dict[str, Login]:
    """By name, with tokens that hold now."""
    return {**signatures(), **claim_cases(), **exchanges()}


def told(address: tuple[str, int], login: Login) -> list[Any]:
    """What a server says, up to the end of the connection. The time that is left is rounded."""
    found: list[Any] = []
    with Client(address) as client:
        try:
            _begin(client, login, found)
            for each in login.tokens:
                if found and found[-1][-1] == "known":
                    break
                found.append(_said(client, each, is_bare=login.is_bare))
            if login.again is not None:
                _begin(client, login, found)
                found.append(_said(client, login.again, is_bare=False))
                found.append(_said(client, b"\x01", is_bare=False))
            answer: Any = client.call(DescribeClusterRequest(), 1)
            found.append(["served", answer.error_code])
        except (Closed, ConnectionError):
            found.append("closed")
    return found


def _begin(client: Client, login: Login, found: list[Any]) -> None:
    answer: Any = client.call(SaslHandshakeRequest(MECHANISM), 0 if login.is_bare else 1)
    found.append(["handshake", answer.error_code, answer.mechanisms])


def _said(client: Client, data: bytes, *, is_bare: bool) -> list[Any]:
    if is_bare:
        client.send_bytes(len(data).to_bytes(4, "big") + data)
        text = client.receive_frame().decode()
        return ["bare", text, "known" if not text else "asked"]
    answer: Any = client.call(SaslAuthenticateRequest(data), 2)
    is_known = not answer.error_code and not answer.auth_bytes
    fields: dict[str, Any] = msgspec.structs.asdict(answer)
    fields["auth_bytes"] = answer.auth_bytes.decode()
    fields["session_lifetime_ms"] = round(answer.session_lifetime_ms, -5)
    return [*fields.values(), "known" if is_known else "refused" if answer.error_code else "asked"]
