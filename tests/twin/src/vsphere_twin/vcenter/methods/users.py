"""Users: the directories of vCenter and of hosts, local users of hosts, Active Directory."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from vsphere_twin.model import accounts, local_users
from vsphere_twin.model.host import wrong_state

from ..projections.shape import make
from ..registry import method
from .host_system import host_method
from .tasking import begin

LOCAL = "HostLocalAccountManager"
DIRECTORY = "HostActiveDirectoryAuthentication"


@method("UserDirectory", "RetrieveUserGroups")
def retrieve_users(
    call, this, searchStr, exactMatch, findUsers, findGroups, domain=None, belongsToGroup=None, belongsToUser=None
):
    """Return the users of one domain or of all; the model has no groups."""
    if belongsToGroup or belongsToUser:
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object: the twin has no groups.")
    if hasattr(this, "host"):
        return _local(this.host, searchStr, exactMatch, findUsers, domain)
    if domain and domain.upper() not in accounts.domains(call.world):
        raise vim.fault.NotFound(msg=f"The object or item referred to could not be found: {domain}")
    found = []
    for user in sorted(call.world.users) if findUsers else ():
        of_domain, _backslash, name = accounts.principal(user).rpartition("\\")
        if accounts.fits(name, searchStr, exactMatch) and (not domain or of_domain == domain.upper()):
            found.append(make(vim.UserSearchResult, principal=name, fullName=accounts.full_name(user), group=False))
    return found


def _local(host, text, exact, users, domain):
    """Return local users of a host, which are in no domain."""
    if domain:
        raise vim.fault.NotFound(msg=f"The object or item referred to could not be found: {domain}")
    return [
        make(vim.UserSearchResult, principal=user.name, fullName=user.description, group=False)
        for user in (local_users.found(host, text, exact) if users else ())
    ]


@host_method(LOCAL, "CreateUser")
def create_user(call, this, user):
    local_users.create(this.host, user)
    call.world.touch(this, this.host)


@host_method(LOCAL, "UpdateUser")
def update_user(call, this, user):
    local_users.update(this.host, user)
    call.world.touch(this, this.host)


@host_method(LOCAL, "RemoveUser")
def remove_user(call, this, userName):
    local_users.remove(this.host, userName)
    call.world.touch(this, this.host)


@host_method(DIRECTORY, "JoinDomain_Task")
def join_domain(call, this, domainName, userName, password):
    def work():
        raise vim.fault.DomainNotFound(msg=f"Cannot reach the domain {domainName}.", domainName=domainName)

    return begin(call, "JoinDomain_Task", this.host, work)


@host_method(DIRECTORY, "LeaveCurrentDomain_Task")
def leave_domain(call, this, force):
    """The network of the twin has no domain, so no host has joined one."""
    raise wrong_state()
