"""The form of the salts that Kafka's tools make for SCRAM (``ScramFormatter.secureRandomBytes``): a random number in base 36."""

from __future__ import annotations

from typing import Final

SALT_BITS: Final = 130
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def salt_of(number: int) -> bytes:
    """Return the salt of a number of SALT_BITS bits. It has 25 or 26 bytes, but for the smallest of a thousand numbers."""
    digits = ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits.encode()
