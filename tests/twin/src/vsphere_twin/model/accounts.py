"""Names of users: how they log in (UPN), and how vCenter writes them afterwards (DOMAIN\\name)."""

from __future__ import annotations

BUILT_IN = {"administrator": "Administrator"}  # as the identity provider writes it, however it was typed


def account(world, name):
    """Return the user of the world with a name, in either form and without regard to case; None if there is none."""
    wanted = _split(name)
    return next((user for user in world.users if _split(user) == wanted), None)


def principal(user):
    """VSPHERE.LOCAL\\Administrator for administrator@vsphere.local; a name without a domain stays."""
    name, _at, domain = (user or "").partition("@")
    return f"{domain.upper()}\\{BUILT_IN.get(name.casefold(), name)}" if domain else user


def full_name(user):
    """The name that a session shows beside the principal."""
    name, _at, domain = user.partition("@")
    return f"{BUILT_IN.get(name.casefold(), name)} {domain}".strip()


def fits(name, text, exact):
    """Return whether a search for a text finds a name: an empty text finds all names."""
    name, text = name.casefold(), text.casefold()
    return name == text if exact and text else text in name


def domains(world):
    """The domains of all users, as vCenter writes them."""
    return sorted({user.rpartition("@")[2].upper() for user in world.users if "@" in user})


def _split(name):
    domain, backslash, user = (name or "").partition("\\")
    if not backslash:
        user, _at, domain = (name or "").partition("@")
    return user.casefold(), domain.casefold()
