"""Authorization: roles, permissions on objects of the inventory, and the resulting privileges."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pyVmomi import vim, vmodl

from .seed_file import Problem, SeedError, line_of

# Privileges of every role except those with none.
ALWAYS = ("System.Anonymous", "System.Read", "System.View")
NO_ACCESS, ANONYMOUS, VIEW, READ_ONLY, ADMIN = -5, -4, -3, -2, -1
FIRST_OWN = 1001


@dataclass(frozen=True)
class Role:
    """A named set of privileges; one of vCenter's own has a negative number."""

    number: int
    name: str
    label: str
    privileges: frozenset = frozenset()

    @property
    def system(self):
        return self.number < 0

    def holds(self, privilege):
        return self.number == ADMIN or privilege in self.privileges


@dataclass(frozen=True)
class Permission:
    """A user has a role on an object, and where it propagates on all that lies below."""

    entity: object
    user: str
    role: Role
    propagate: bool = True


@dataclass
class Permissions:
    """All roles and permissions of one vCenter."""

    roles: dict = field(default_factory=dict)
    rows: list = field(default_factory=list)

    def __post_init__(self):
        for role in (
            Role(NO_ACCESS, "NoAccess", "No access"),
            Role(ANONYMOUS, "Anonymous", "Anonymous", frozenset(ALWAYS[:1])),
            Role(VIEW, "View", "View", frozenset(("System.Anonymous", "System.View"))),
            Role(READ_ONLY, "ReadOnly", "Read-only", frozenset(ALWAYS)),
            Role(ADMIN, "Admin", "Administrator", frozenset(ALWAYS)),
        ):
            self.roles[role.name] = role

    def defined(self, name, privileges):
        """Make a role; System.Anonymous, System.Read and System.View are in each, as in vCenter."""
        own = [role.number for role in self.roles.values() if not role.system]
        role = Role(max(own, default=FIRST_OWN - 1) + 1, name, name, frozenset(privileges).union(ALWAYS))
        self.roles[name] = role
        return role

    def by_number(self, number):
        """The role of this number; NotFound where there is none."""
        found = next((role for role in self.roles.values() if role.number == number), None)
        if found is None:
            raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
        return found

    def rename(self, number, name, privileges):
        """Another name and other privileges of a role that is not vCenter's own."""
        role = self._own(number)
        if name != role.name and name in self.roles:
            raise exists(name)
        changed = Role(number, name, name, frozenset(privileges).union(ALWAYS))
        self.roles = {one.name: one for one in (changed if one is role else one for one in self.roles.values())}
        self.rows = [replace(row, role=changed) if row.role is role else row for row in self.rows]

    def drop(self, number, fail_if_used):
        """Remove a role, with the permissions that it is in unless that is refused."""
        role = self._own(number)
        if fail_if_used and any(row.role is role for row in self.rows):
            raise vim.fault.RemoveFailed(msg="The role is in use.")
        del self.roles[role.name]
        self.rows = [row for row in self.rows if row.role is not role]

    def grant(self, entity, user, role, propagate):
        """Grant a permission to a user on an object, replacing an existing one."""
        if role.number in (ANONYMOUS, VIEW):  # GOV: "cannot be granted"
            raise _wrong_role()
        self._keep_one_administrator([row for row in self.rows if not self._is(row, entity, user)], role, entity)
        self.rows = [row for row in self.rows if not self._is(row, entity, user)]
        self.rows.append(Permission(entity, user, role, propagate))

    def revoke(self, entity, user):
        """Remove a user's permission on an object."""
        left = [row for row in self.rows if not self._is(row, entity, user)]
        if len(left) == len(self.rows):
            raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
        self._keep_one_administrator(left)
        self.rows = left

    def _own(self, number):
        role = self.by_number(number)
        if role.system:
            raise _wrong_role()
        return role

    def _is(self, row, entity, user):
        return row.entity is entity and row.user == user

    def _keep_one_administrator(self, left, role=None, entity=None):
        """Keep one full administrator, or no user could grant a permission any more."""
        kept = any(row.role.number == ADMIN and row.entity.parent is None for row in left)
        if not kept and not (role is not None and role.number == ADMIN and entity.parent is None):
            raise vim.fault.AuthMinimumAdminPermission(msg="There must be one administrator of the root folder.")

    def on(self, entity):
        """The permissions that are set on this object itself."""
        return [row for row in self.rows if row.entity is entity]

    def reaching(self, entity):
        """The permissions that count on an object, its own and those of objects above it."""
        return [row for user in self.users() for row in self._of(user, entity)]

    def users(self):
        return list(dict.fromkeys(row.user for row in self.rows))

    def held(self, user, entity):
        """The roles that a user has on an object."""
        return [row.role for row in self._of(user, entity)]

    def may(self, user, privilege, entity):
        return any(role.holds(privilege) for role in self.held(user, entity))

    def _of(self, user, entity):
        """Return the nearest permission on each path up: lower ones replace inherited ones."""
        found = []
        for way in _ways_up(entity):
            for above in way:
                rows = [row for row in self.on(above) if row.user == user and (row.propagate or above is entity)]
                if rows:
                    found += [row for row in rows if row not in found]
                    break
        return found


def _wrong_role():
    return vmodl.fault.InvalidArgument(msg="A specified parameter was not correct: roleId", invalidProperty="roleId")


def exists(name):
    """The fault for a name that is taken."""
    return vim.fault.AlreadyExists(msg="The specified key, name, or identifier already exists.", name=name)


def _ways_up(entity):
    """Return the paths from an object to the root; a VM inherits from its folder and from its resource pool at once."""
    pool = getattr(entity, "pool", None) if entity.kind == "VirtualMachine" else None
    yield _chain(entity)
    if pool is not None:
        yield [entity, *_chain(pool)]


def _chain(entity):
    chain = []
    while entity is not None:
        chain.append(entity)
        entity = getattr(entity, "parent", None)
    return chain


def build(world, data):
    """Roles and permissions of a seed; a user that it gives none is an administrator of everything."""
    permissions = world.permissions = Permissions()
    for name, privileges in data.get("roles", {}).items():
        permissions.defined(name, privileges or ())
    problems, rows = [], data.get("permissions", [])
    for place, row in enumerate(rows):
        line = line_of(rows, place)
        named = row.get("object", "/")
        entities = [world.root_folder] if named == "/" else _named(world, named)
        if row["user"] not in world.users:
            problems.append(Problem(f"seed.permissions[{place}]: there is no user {row['user']}.", line))
        if row["role"] not in permissions.roles:
            problems.append(Problem(f"seed.permissions[{place}]: there is no role {row['role']}.", line))
        if len(entities) != 1:
            problems.append(
                Problem(f"seed.permissions[{place}]: there are {len(entities)} objects of the name {named}.", line)
            )
        if not problems:
            role = permissions.roles[row["role"]]
            permissions.rows.append(Permission(entities[0], row["user"], role, row.get("propagate", True)))
    if problems:
        raise SeedError(problems)
    left = [user for user in world.users if user not in permissions.users()]
    permissions.rows += [Permission(world.root_folder, user, permissions.roles["Admin"]) for user in left]


KINDS = ("Datacenter", "Folder", "ClusterComputeResource", "HostSystem", "VirtualMachine", "Datastore", "Network")
PORT_GROUPS = ("DistributedVirtualPortgroup", "VmwareDistributedVirtualSwitch")


def _named(world, name):
    return [one for kind in (*KINDS, *PORT_GROUPS) for one in world.of_kind(kind) if one.name == name]
