"""Sessions of logged-in users."""

from __future__ import annotations

import datetime
import logging
import secrets
import time

from pyVmomi import vim

from ..model import accounts
from ..model.sso import Rejected
from ..model.world import Entity
from .updates import Collector

LOG = logging.getLogger(__name__)
IDLE_S = 30 * 60  # vCenter's default


class Session:
    """One login, with the objects that only it can see."""

    def __init__(self, manager, user, client, locale):
        self.key = secrets.token_hex(20)
        self.public_key = secrets.token_hex(16)
        self.manager = manager
        self.user = user
        self.locale = locale or "en"
        self.face = "sdk"  # or "api" for the tokens of the REST API, which the SOAP API does not take
        self.address = getattr(client, "address", "127.0.0.1")
        self.user_agent = getattr(client, "user_agent", None) or ""
        self.epoch = manager.world.faults.session_epoch
        self.login_time = self.active_time = _utc_now()
        self.used_s = manager.clock()
        self.calls = 0
        self.objects = {}
        self.add(Collector("propertyCollector", manager.world))

    def add(self, entity):
        """Keep an object until it is destroyed or the session ends."""
        self.objects[entity.moid] = entity
        return entity

    def new_moid(self):
        """An id that no other session can guess, as vCenter makes them for views and filters."""
        return f"session[{self.public_key}]{secrets.token_hex(16)}"

    @property
    def alive(self):
        return self.manager.get(self.key, self.face) is self

    def used(self):
        """Record activity of the client."""
        self.used_s = self.manager.clock()
        self.active_time = _utc_now()
        self.calls += 1

    def describe(self):
        """The session as the API shows it."""
        return vim.UserSession(
            key=self.public_key,
            userName=accounts.principal(self.user),
            fullName=accounts.full_name(self.user),
            loginTime=self.login_time,
            lastActiveTime=self.active_time,
            locale=self.locale,
            messageLocale=self.locale,
            extensionSession=False,
            ipAddress=self.address,
            userAgent=self.user_agent,
            callCount=self.calls,
        )


class SessionManager(Entity):
    """All sessions. Held under the world's lock."""

    kind = "SessionManager"

    def __init__(self, world, idle_s=IDLE_S, clock=time.monotonic):
        super().__init__("SessionManager")
        self.version = None
        self.world = world
        self.idle_s = idle_s
        self.clock = clock
        self._sessions = {}

    def login(self, user, password, client=None, locale=None):
        """A new session, or InvalidLogin."""
        user = self.world.sso.authenticated(user, password)
        if user is None:
            raise vim.fault.InvalidLogin(msg="Cannot complete login due to an incorrect user name or password.")
        return self.begin(user, client, locale)

    def login_by_token(self, text, client=None, locale=None):
        """A new session for a SAML assertion, or InvalidLogin, whatever is wrong with it."""
        try:
            user = self.world.sso.user_of(text)
        except Rejected as problem:
            LOG.debug("A token is refused: %s", problem)
            raise vim.fault.InvalidLogin(
                msg="Cannot complete login due to an incorrect user name or password."
            ) from problem
        return self.begin(user, client, locale)

    def begin(self, user, client=None, locale=None):
        """Create a session of an authenticated user."""
        session = Session(self, user, client, locale)
        self._sessions[session.key] = session
        principal = accounts.principal(session.user)
        self.world.journal.post(
            "UserLoginSessionEvent",
            user=session.user,
            message=f"User {principal}@{session.address} logged in as {session.user_agent}",
            ipAddress=session.address,
            userAgent=session.user_agent,
            locale=session.locale,
            sessionId=session.public_key,
        )
        return session

    def get(self, key, face="sdk"):
        """The living session with this cookie or token, or None."""
        session = self._sessions.get(key)
        if session is None or session.face != face:
            return None
        expired = self.clock() - session.used_s > self.idle_s
        if expired or session.epoch != self.world.faults.session_epoch:
            self.end(session)
            return None
        return session

    def end(self, session):
        """Log a session out; its long polls find out at once."""
        with self.world.changed:
            if self._sessions.pop(session.key, None) is not None:
                principal = accounts.principal(session.user)
                self.world.journal.post(
                    "UserLogoutSessionEvent",
                    user=session.user,
                    message=f"User {principal}@{session.address} logged out (API invocations: {session.calls})",
                    ipAddress=session.address,
                    userAgent=session.user_agent,
                    callCount=session.calls,
                    sessionId=session.public_key,
                    loginTime=session.login_time,
                )
            session.objects.clear()
            self.world.changed.notify_all()

    def living(self):
        """Return all sessions that have not ended or expired."""
        return [session for session in list(self._sessions.values()) if session.alive]


def _utc_now():
    return datetime.datetime.now(datetime.timezone.utc)
