"""One call in progress: who calls, in which version, and on what."""

from __future__ import annotations

import contextvars
from dataclasses import dataclass, field
from typing import Any

from pyVmomi import vim, vmodl

from ..model.inventory import Managed
from ..model.permissions import ALWAYS
from . import types
from .paths import PropertyReader

_current = contextvars.ContextVar("call")
# What a client may read before it has logged in.
OPEN_KINDS = ("ServiceInstance", "SessionManager")


class ClientGone(Exception):
    """The client hung up; there is no one to answer."""


@dataclass
class Call:
    """What the function that serves a method needs to know."""

    world: Any
    reader: PropertyReader
    sessions: Any
    session: Any
    version: str
    method: str = ""
    client: Any = None  # the connection: address, user_agent, hung_up()
    new_cookie: str | None = field(default=None, init=False)

    def resolve(self, reference):
        """The entity that a reference names; ManagedObjectNotFound where it is gone."""
        if reference is None:
            return None
        entity = self.session.objects.get(reference._moId) if self.session else None
        entity = entity or self.world.get(reference._moId)
        if entity is None:
            raise vmodl.fault.ManagedObjectNotFound(
                msg=f"The object '{reference._wsdlName}:{reference._moId}' has already been deleted"
                " or has not been completely created",
                obj=reference,
            )
        return entity

    def require_session(self, this=None):
        """NotAuthenticated unless someone is logged in."""
        if self.session is None:
            raise vim.fault.NotAuthenticated(
                msg="The session is not authenticated.",
                object=this or vim.Folder("group-d1"),
                privilegeId="System.View",
            )

    def require_access(self, entity, reference=None):
        """NotAuthenticated unless someone is logged in or anyone may look at this object."""
        if entity.kind not in OPEN_KINDS:
            self.require_session(reference)

    def require_privilege(self, privilege, entity):
        """NoPermission unless whoever is logged in holds a privilege on an object, or on the host of a manager of one.

        What may be seen is not restricted: everybody sees everything.
        """
        if self.session is None or not privilege or privilege in ALWAYS:
            return
        target = entity if isinstance(entity, Managed) else getattr(entity, "host", self.world.root_folder)
        if not self.world.permissions.may(self.session.user, privilege, target):
            raise vim.fault.NoPermission(
                msg="Permission to perform this operation was denied.",
                object=types.reference(target),
                privilegeId=privilege,
            )

    def begin(self):
        """From here on this is the call that the thread works on."""
        _current.set(self)


def current():
    """The call that this thread works on, or None."""
    return _current.get(None)
