"""The options of ``groups what-if``."""

from __future__ import annotations

from typing import Any, Final

from coordinator_server.cli.actions import add_action, add_common
from coordinator_server.cli.times import MOMENT, duration_ms, moment_ms
from coordinator_server.whatif.names import NAMES

_ABOUT: Final = """\
The log has every membership, subscription and assignment, so that a group's past can be played again with
another rule: each change of the group is given to the assignor, with what the members would have had then.
A figure is known; or a bound: the cost is at most that, and so is what is saved; or unknown. The last lines
say which rules would have saved something, and why. docs/what-if.md explains the figures.

The assignors range, roundrobin, sticky and cooperative-sticky are those of Kafka's clients; uniform and
server-range are those of the coordinator (KIP-848).
"""


def add_what_if(actions: Any, epilog: str) -> None:
    """Declare the action."""
    parser = add_action(actions, "what-if", "what the group would have lived through with another rule", epilog)
    parser.description = f"{parser.description}\n\n{_ABOUT}"
    parser.add_argument("group", metavar="GROUP", help="the group's id")
    parser.add_argument("--assignor", choices=NAMES, help="this assignor (default: the one that was in force)")
    parser.add_argument("--static", action="store_true", help="all members are static: a restart within a session is no change")
    parser.add_argument(
        "--session-timeout",
        type=duration_ms,
        default=0,
        metavar="TIME",
        help="sessions of this length, such as 90s; what shorter ones would have ended is known of members that commit often",
    )
    parser.add_argument(
        "--rebalance-delay",
        type=duration_ms,
        default=0,
        metavar="TIME",
        help="changes that begin within this time of a join are one, such as 3s",
    )
    parser.add_argument("--from", dest="since", type=moment_ms, metavar="TIME", help=f"from then on (default: all): {MOMENT}")
    parser.add_argument("--to", dest="until", type=moment_ms, metavar="TIME", help=f"until then (default: now): {MOMENT}")
    parser.add_argument("--each", action="store_true", help="also a line for each change")
    add_common(parser)
