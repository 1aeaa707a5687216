"""Errors of the fixture, for the test that uses it.

FixtureError      the request makes no sense, or not now; the message says what does
└─ ServerEnded    the server's process has ended without being asked; the message has the end of its log
"""

from __future__ import annotations


class FixtureError(Exception):
    """A request that the server for tests cannot fulfil."""


class ServerEnded(FixtureError):
    """The server has ended, and no test has asked for that."""
