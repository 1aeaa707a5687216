"""Distinguished names as Java writes them: each of these was read from the same certificate by ``X500Principal.getName()``."""

from __future__ import annotations

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID as N

from coordinator_server.security.certificate_names import subject_name
from tests.support.certificates import Authority

Parts = list[list[tuple[x509.ObjectIdentifier, str]]]


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (
            [
                [(N.COUNTRY_NAME, "DE")],
                [(N.ORGANIZATION_NAME, "Example, Inc.")],
                [(N.ORGANIZATIONAL_UNIT_NAME, "a+b=c")],
                [(N.COMMON_NAME, "alice")],
            ],
            r"CN=alice,OU=a\+b\=c,O=Example\, Inc.,C=DE",
        ),
        (
            [[(N.EMAIL_ADDRESS, "a@b.example")], [(N.COMMON_NAME, "bob")]],
            "CN=bob,1.2.840.113549.1.9.1=#160b6140622e6578616d706c65",
        ),
        ([[(N.DOMAIN_COMPONENT, "example")], [(N.DOMAIN_COMPONENT, "org")], [(N.USER_ID, "u1")]], "UID=u1,DC=org,DC=example"),
        (
            [
                [(N.COMMON_NAME, "x"), (N.USER_ID, "y")],
                [(N.STATE_OR_PROVINCE_NAME, "S")],
                [(N.STREET_ADDRESS, "1 Way")],
                [(N.LOCALITY_NAME, "L")],
            ],
            "L=L,STREET=1 Way,ST=S,CN=x+UID=y",
        ),
        ([[(N.COMMON_NAME, "  a  b ")]], "CN=\\ \\ a  b\\ "),
        ([[(N.COMMON_NAME, "  ")]], "CN=\\ \\ "),
        ([[(N.COMMON_NAME, '#a#b<>;"\\')]], r"CN=\#a\#b\<\>\;\"\\"),
        ([[(N.COMMON_NAME, "Jürgen Ω 😀")]], "CN=Jürgen Ω 😀"),
        ([[(N.COMMON_NAME, "a\nb\0c")]], "CN=a\nb\\00c"),
        (
            [[(N.SERIAL_NUMBER, "77")], [(N.TITLE, "t" * 130)], [(N.COMMON_NAME, "z")]],
            f"CN=z,2.5.4.12=#0c8182{'74' * 130},2.5.4.5=#13023737",
        ),
    ],
)
def test_the_text_of_a_subjects_distinguished_name(parts: Parts, text: str) -> None:
    subject = x509.Name([x509.RelativeDistinguishedName([x509.NameAttribute(*each) for each in part]) for part in parts])

    assert subject_name(Authority().issue(subject).der) == text
