"""What a viewer types to find groups, as a condition of SQLite.

Words are apart by blanks, and a group has to match all. ``state:``, ``type:``, ``health:``, ``topic:``, ``client:``, ``host:`` and
``id:`` name where to look; a word without one is looked for in ids, topics and clients. "-" before a word excludes what matches.
Case is ignored. Groups that were deleted are found with ``state:deleted`` or ``state:any`` only.
"""

from __future__ import annotations

from typing import Final, NamedTuple

MOST_WORDS: Final = 12
_COLUMNS: Final = {"id": "id_text", "topic": "topics_text", "client": "clients_text", "host": "hosts_text"}
_EXACT: Final = {"state": "shown_state", "type": "type", "health": "lower(coalesce(verdict, 'unknown'))"}
_ANYWHERE: Final = "anywhere_text"
_ANY_STATE: Final = "any"


class Condition(NamedTuple):
    """A condition of SQLite, and the values in it."""

    text: str
    values: list[str]


def condition(typed: str) -> Condition:
    """Return the condition that a viewer has typed. Only the first MOST_WORDS words count."""
    conditions: list[str] = []
    values: list[str] = []
    names_state = False
    for word in typed.lower().split()[:MOST_WORDS]:
        is_excluded = word.startswith("-") and len(word) > 1
        where, colon, what = word.removeprefix("-").partition(":") if is_excluded else word.partition(":")
        names_state |= where == "state" and bool(what)
        if colon and where in _EXACT:
            if not what or what == _ANY_STATE:
                continue
            # Half a word is a beginning: one sees what is typed.
            one = f"{_EXACT[where]} GLOB ?"
            found = [_escaped(what) + "*"]
        elif colon and where in _COLUMNS:
            one, found = f"instr({_COLUMNS[where]}, ?)", [what]
        else:
            one, found = f"instr({_ANYWHERE}, ?)", [word[1:] if is_excluded else word]
        conditions.append(f"NOT {one}" if is_excluded else one)
        values += found
    if not names_state:
        conditions.append("state != 'deleted'")
    return Condition(" AND ".join(conditions) or "1", values)


def _escaped(text: str) -> str:
    """Return a text as GLOB has it literally."""
    return "".join(f"[{each}]" if each in "*?[" else each for each in text)
