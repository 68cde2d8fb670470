"""Roles of users on objects: the rights to launch, to approve and to change. [sure] AWX 24.6.1 where not marked"""

from __future__ import annotations

from .objects import NODES
from .refused import Refused

# Table -> the roles that its objects grant, as far as clients use them here. The roles of organizations hold for all
# objects of the organization.
ROLES = {
    "organizations": ("admin_role", "execute_role", "auditor_role", "member_role", "read_role", "approval_role"),
    "projects": ("admin_role", "use_role", "update_role", "read_role"),
    "inventories": ("admin_role", "use_role", "adhoc_role", "update_role", "read_role"),
    "credentials": ("admin_role", "use_role", "read_role"),
    "job_templates": ("admin_role", "execute_role", "read_role"),
    "workflow_job_templates": ("admin_role", "execute_role", "read_role", "approval_role"),
}
LAUNCH, APPROVE, CHANGE = ("admin_role", "execute_role"), ("admin_role", "approval_role"), ("admin_role",)


class Roles:
    """The roles of every object, and the users that have them."""

    def __init__(self, objects):
        self._objects = objects
        self._ids = {}  # (table, ID of the object, name) -> ID of the role
        self.users = {}  # ID of the role -> IDs of users

    def of(self, table, number):
        """{name: {id}} of an object, as summary_fields has them."""
        return {name: {"id": self._id(table, number, name), "name": name} for name in ROLES.get(table, ())}

    def _id(self, table, number, name):
        found = self._ids.setdefault((table, number, name), len(self._ids) + 1)
        self.users.setdefault(found, [])
        return found

    def grant(self, role, data):
        """Grant a role to a user, or revoke it."""
        ids = self.members(role)
        if not isinstance(data, dict):
            raise Refused(400, "invalid type for post data")
        user = data.get("id")
        if not self._objects.exists("users", user):
            raise Refused.detail(404, "Not found.")
        if data.get("disassociate"):
            if user in ids:
                ids.remove(user)
        elif user not in ids:
            ids.append(user)

    def members(self, role):
        if role not in self.users:
            raise Refused.detail(404, "Not found.")
        return self.users[role]

    def require(self, user, names, table, number):
        """Reject a user without one of these roles on the object or on its organization."""
        if user["is_superuser"]:
            return
        places = [(table, number)]
        organization = self._objects.row(table, number).get("organization")
        if organization is not None:
            places.append(("organizations", organization))
        held = [
            user["id"] in self.members(self._id(*place, name))
            for place in places
            for name in names
            if name in ROLES.get(place[0], ())
        ]
        if not any(held):
            raise Refused.detail(403, "You do not have permission to perform this action.")

    def require_change(self, user, table, number):
        """A node has the roles of its workflow. New objects, and those without roles, are for administrators."""
        if table == NODES and number is not None:
            table, number = "workflow_job_templates", self._objects.row(NODES, number)["workflow_job_template"]
        if user["is_superuser"]:
            return
        if number is None or table not in ROLES:
            # [unsure: AWX also lets administrators of an organization create objects]
            raise Refused.detail(403, "You do not have permission to perform this action.")
        self.require(user, CHANGE, table, number)
