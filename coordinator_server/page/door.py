"""Logins of viewers: a user of the cluster logs in with its own password, which the cluster checks.

A session is a random token in a cookie. It has a connection to the cluster as that user, on which is asked, again and again, what
the user may describe: what is revoked is gone within REFRESH_S, and a topic that was not there before is asked about within
NAMES_S. The password stays in this process's memory as long as the session does, and nowhere else.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Final, NamedTuple

import structlog
from anyio import to_thread

from coordinator_server.client.admin.cluster import Cluster
from coordinator_server.client.errors import AuthenticationFailed, ClientError, InvalidSettings
from coordinator_server.client.settings import ConnectionSettings, Sasl
from coordinator_server.page.rights import Rights, rights_of

log = structlog.get_logger(__name__)

COOKIE: Final = "__Host-page"
REFRESH_S: Final = 30.0
NAMES_S: Final = 1.0
IDLE_S: Final = 1800.0
LONGEST_S: Final = 12 * 3600.0
MOST_SESSIONS: Final = 500
_MOST_LOGINS: Final = 4
"""So many logins are tried at the same time; others are asked to wait."""
_FAILED_S: Final = 1.0
"""A login that fails takes so long."""
_MECHANISMS: Final = ("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN")


class LoginFailed(Exception):
    """A login did not succeed; the text says why."""


class Session:
    """A user who has logged in."""

    def __init__(self, user: str, cluster: Cluster, rights: Rights, asked: frozenset[str], now_s: float) -> None:
        self.user = user
        self.cluster = cluster
        self.rights = rights
        # The topics that the cluster was asked about.
        self.asked = asked
        self.began_s = self.used_s = self.asked_s = now_s
        self.lock = asyncio.Lock()


class Viewer(NamedTuple):
    """Who asks, and what may be seen."""

    user: str
    rights: Rights


class Door:
    """The sessions of one process. ``where`` returns how the cluster is reached, without a login; it may block.

    ``topics`` returns the names of all topics that a view may show.
    """

    def __init__(
        self,
        where: Callable[[], ConnectionSettings],
        topics: Callable[[], Collection[str]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._where = where
        self._topics = topics
        self._clock = clock
        self._sessions: dict[str, Session] = {}
        self._logins = 0
        self._names: frozenset[str] = frozenset()
        self._named_s = -NAMES_S

    async def login(self, user: str, password: str) -> str:
        """Try a login at the cluster, and return the token of a new session. Raises LoginFailed."""
        if self._logins >= _MOST_LOGINS:
            raise LoginFailed("many log in at this moment: try again")
        self._logins += 1
        try:
            names = await self._known_topics()
            cluster, rights = await self._tried(user, password, names)
        except LoginFailed:
            await asyncio.sleep(_FAILED_S)
            raise
        finally:
            self._logins -= 1
        self._forget_old()
        token = secrets.token_urlsafe(32)
        self._sessions[token] = Session(user, cluster, rights, names, self._clock())
        log.info("page-login", user=user)
        return token

    async def viewer(self, cookies: str) -> Viewer | None:
        """Return who sends a request with a Cookie header; None without a session that lasts. Raises ClientError.

        What may be seen is asked again when that was a while ago, or when there are topics that were not asked about: nobody sees
        what the cluster was not asked about. While the cluster does not answer, nothing may be seen.
        """
        token = _token(cookies)
        session = self._sessions.get(token)
        if session is None or not self._lasts(session):
            self._end(token)
            return None
        session.used_s = self._clock()
        async with session.lock:
            names = await self._known_topics()
            if self._clock() - session.asked_s > REFRESH_S or not names <= session.asked:
                try:
                    rights = await rights_of(session.cluster, names)
                except AuthenticationFailed:
                    self._end(token)
                    return None
                # The same object as long as nothing has changed: answers are kept by it.
                session.rights = session.rights if rights == session.rights else rights
                session.asked, session.asked_s = names, self._clock()
        return Viewer(session.user, session.rights)

    def knows(self, cookies: str) -> bool:
        """Return whether a request has a session that lasts."""
        session = self._sessions.get(_token(cookies))
        return session is not None and self._lasts(session)

    def logout(self, cookies: str) -> None:
        """End the session of a request, if it has one."""
        self._end(_token(cookies))

    async def _tried(self, user: str, password: str, names: frozenset[str]) -> tuple[Cluster, Rights]:
        try:
            where = await to_thread.run_sync(self._where)
        except (ClientError, OSError) as error:
            raise LoginFailed(f"the cluster cannot be asked: {error}") from error
        is_private = where.ssl is not None or all(_is_loopback(each.host) for each in where.addresses)
        reason = "the user or the password is wrong"
        for mechanism in _MECHANISMS if is_private else _MECHANISMS[:-1]:
            try:
                cluster = Cluster(replace(where, sasl=Sasl(user, password, mechanism)))
            except InvalidSettings as error:
                raise LoginFailed(str(error)) from error
            try:
                return cluster, await rights_of(cluster, names)
            except AuthenticationFailed:
                # The listener has another mechanism, or the user has, or the password is wrong: which, is not said.
                cluster.close()
            except ClientError as error:
                cluster.close()
                reason = f"the cluster does not answer: {error}"
                break
        raise LoginFailed(reason)

    async def _known_topics(self) -> frozenset[str]:
        """Return the names of all topics that a view may show, as they were NAMES_S ago or later."""
        if self._clock() - self._named_s >= NAMES_S:
            self._named_s = self._clock()
            self._names = frozenset(await to_thread.run_sync(self._topics))
        return self._names

    def _lasts(self, session: Session) -> bool:
        now_s = self._clock()
        return now_s - session.used_s < IDLE_S and now_s - session.began_s < LONGEST_S

    def _forget_old(self) -> None:
        for token in [token for token, each in self._sessions.items() if not self._lasts(each)]:
            self._end(token)
        while len(self._sessions) >= MOST_SESSIONS:
            self._end(min(self._sessions, key=lambda token: self._sessions[token].used_s))

    def _end(self, token: str) -> None:
        session = self._sessions.pop(token, None)
        if session is not None:
            session.cluster.close()


def _token(cookies: str) -> str:
    try:
        found = SimpleCookie(cookies).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
