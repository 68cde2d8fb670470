"""The local users of an ESXi host."""

from __future__ import annotations

import string
from dataclasses import dataclass

from pyVmomi import vim, vmodl

from . import accounts, kept

# Users of each ESXi host, and the names that the API shows for them (vSphere Security, ESXi Users).
BUILT_IN = {
    "dcui": "DCUI User",
    "root": "Administrator",
    "vpxuser": "VMware VirtualCenter administration account",
}
CLASSES = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
SHORTEST, LONGEST, FEWEST_CLASSES = 7, 40, 3  # vSphere Security, ESXi Passwords and Account Lockout
SERVED = ("id", "password", "description")


@dataclass
class LocalUser:
    """A user of one host."""

    name: str
    description: str
    password: str = ""


def all_of():
    """The users of a new host."""
    return {name: LocalUser(name, description) for name, description in BUILT_IN.items()}


def create(host, spec):
    """Add a user; a wrong password is an InvalidArgument of the field password (community.vmware pull request 724)."""
    kept.refuse_unserved(spec, SERVED)
    if not spec.id:
        raise kept.wrong("id")
    if spec.id in host.local_users:
        raise vim.fault.AlreadyExists(
            msg=f"The specified key, name, or identifier '{spec.id}' already exists.", name=spec.id
        )
    _check_password(spec.password)
    host.local_users[spec.id] = LocalUser(spec.id, spec.description or "", spec.password)


def update(host, spec):
    """Change the description or the password of a user."""
    kept.refuse_unserved(spec, SERVED)
    user = _named(host, spec.id)
    if spec.password is not None:
        _check_password(spec.password)
        user.password = spec.password
    user.description = user.description if spec.description is None else spec.description


def remove(host, name):
    """Delete a user; those of ESXi itself stay (vSphere Security; the fault is [unsure])."""
    _named(host, name)
    if name in BUILT_IN:
        raise vmodl.fault.SecurityError(msg=f"The user {name} cannot be removed.")
    del host.local_users[name]


def found(host, text, exact):
    """The users whose name is a text, or has it as a part."""
    return [user for name, user in sorted(host.local_users.items()) if accounts.fits(name, text, exact)]


def _named(host, name):
    if name not in host.local_users:
        raise vim.fault.UserNotFound(
            msg=f"The user or group named '{name}' does not exist.", principal=name, unresolved=True
        )
    return host.local_users[name]


def _check_password(password):
    """Refuse a password that ESXi refuses by default: a capital at its start and a digit at its end do not count."""
    text = password or ""
    inner = text[1:] if text[:1] in CLASSES[1] else text
    inner = inner[:-1] if inner[-1:] in CLASSES[2] else inner
    of_classes = {next((at for at, known in enumerate(CLASSES) if one in known), len(CLASSES)) for one in inner}
    if not SHORTEST <= len(text) <= LONGEST or len(of_classes) < FEWEST_CLASSES:
        raise kept.wrong("password")
