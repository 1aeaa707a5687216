"""The subject of a certificate as text, as Java's ``X500Principal.getName()`` writes it, because Kafka's rules and ACLs name it so.

That is RFC 2253: the most specific part first, nine attribute types by keyword,
and the others by number with the value in DER as hex.
"""

from __future__ import annotations

from typing import Final

from cryptography import x509
from cryptography.x509.oid import NameOID

_KEYWORDS: Final = {
    NameOID.COMMON_NAME: "CN",
    NameOID.COUNTRY_NAME: "C",
    NameOID.LOCALITY_NAME: "L",
    NameOID.STATE_OR_PROVINCE_NAME: "ST",
    NameOID.ORGANIZATION_NAME: "O",
    NameOID.ORGANIZATIONAL_UNIT_NAME: "OU",
    NameOID.STREET_ADDRESS: "STREET",
    NameOID.DOMAIN_COMPONENT: "DC",
    NameOID.USER_ID: "UID",
}
_ESCAPED: Final = str.maketrans({**{each: f"\\{each}" for each in ',=+<>#;"\\'}, "\0": "\\00"})
_LONG_LENGTH: Final = 0x80


def subject_name(certificate_der: bytes) -> str:
    """Return the distinguished name of the subject of a certificate. Raises ValueError."""
    subject = x509.load_der_x509_certificate(certificate_der).subject
    return ",".join("+".join(map(_attribute, part)) for part in reversed(subject.rdns))


def _attribute(attribute: x509.NameAttribute[str | bytes]) -> str:
    keyword = _KEYWORDS.get(attribute.oid)
    if keyword is None or isinstance(attribute.value, bytes):
        return f"{keyword or attribute.oid.dotted_string}=#{_value_der(attribute).hex()}"
    return f"{keyword}={_escaped(attribute.value)}"


def _escaped(value: str) -> str:
    inner = value.strip(" ")
    if not inner:
        return "\\ " * len(value)
    before, after = value.index(inner), len(value) - len(value.rstrip(" "))
    return "\\ " * before + inner.translate(_ESCAPED) + "\\ " * after


def _value_der(attribute: x509.NameAttribute[str | bytes]) -> bytes:
    """Return the DER of an attribute's value: what follows the number in the only attribute of a name."""
    der = x509.Name([attribute]).public_bytes()
    for _ in ("name", "part", "attribute"):
        der = der[_content_start(der) :]
    start = _content_start(der)
    return der[start + der[start - 1] :]


def _content_start(der: bytes) -> int:
    """Return where the content of the first element begins. Object identifiers have short lengths."""
    return 2 if der[1] < _LONG_LENGTH else 2 + (der[1] & ~_LONG_LENGTH)
