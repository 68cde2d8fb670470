"""One call in progress: its caller, its version, and its object."""

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
# Objects that a client may read before its login.
OPEN_KINDS = ("ServiceInstance", "SessionManager", "PbmServiceInstance", "VslmServiceInstance")


class ClientGone(Exception):
    """The client hung up; there is no one to answer."""


@dataclass
class Call:
    """Context for the function that serves a method."""

    world: Any
    reader: PropertyReader
    sessions: Any
    session: Any
    version: str
    method: str = ""
    client: Any = None  # the connection: address, user_agent, hung_up()
    message: bytes = b""  # as it arrived, for what is in its header
    own: dict | None = None  # the objects of a service beside the API, by id; their ids are those of other objects too
    new_cookie: str | None = field(default=None, init=False)

    def resolve(self, reference):
        """The entity that a reference names; ManagedObjectNotFound where it is gone."""
        if reference is None:
            return None
        if self.own is not None:
            entity = self.own.get(reference._moId)
        else:
            entity = self.session.objects.get(reference._moId) if self.session else None
            entity = entity or self.world.get(reference._moId)
        # By this fault Terraform knows that a resource pool is no vApp (vsphere/internal/helper/vappcontainer).
        if entity is None or not types.is_kind(entity.kind, reference._wsdlName):
            raise vmodl.fault.ManagedObjectNotFound(
                msg=f"The object '{reference._wsdlName}:{reference._moId}' has already been deleted"
                " or has not been completely created",
                obj=reference,
            )
        return entity

    def require_session(self, this=None):
        """Raise NotAuthenticated without a login."""
        if self.session is None:
            raise vim.fault.NotAuthenticated(
                msg="The session is not authenticated.",
                object=this or vim.Folder("group-d1"),
                privilegeId="System.View",
            )

    def require_access(self, entity):
        """Raise NotAuthenticated without a login, unless the object is public."""
        if entity.kind not in OPEN_KINDS:
            self.require_session()

    def require_privilege(self, privilege, entity):
        """Raise NoPermission unless the user holds a privilege on an object, or on the host of a manager of one.

        Reading is not restricted: every user sees everything.
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
        """Mark this as the present call of the thread."""
        _current.set(self)


def current():
    """The call that this thread works on, or None."""
    return _current.get(None)
