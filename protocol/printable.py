"""Texts of peers for terminals and log lines.

They may have any character: control codes, ANSI escapes, line ends, changes of direction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

# The output of a command can be large, and a single character makes a whole piece slow.
_PIECE: Final = 1 << 12


def printable(text: str) -> str:
    """Return the text with an escape such as ``\\x1b`` for each character that does not print as itself."""
    return text if text.isprintable() else _escaped(text, _escape)


def printable_json(text: str) -> str:
    """Return the JSON text with JSON's escapes for such characters. It is the same value."""
    return text if text.isprintable() else _escaped(text, _json_escape)


def _escaped(text: str, escape: Callable[[str], str]) -> str:
    pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
    return "".join(
        piece if piece.isprintable() else "".join(each if each.isprintable() else escape(each) for each in piece)
        for piece in pieces
    )


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(character: str) -> str:
    encoded = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{encoded[at : at + 2].hex()}" for at in range(0, len(encoded), 2))
