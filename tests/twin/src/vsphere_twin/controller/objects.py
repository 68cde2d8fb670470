"""The objects of a controller: created, changed, linked and deleted by the rules of AWX 24.6.1."""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from datetime import datetime, timezone

from . import credentials, inventories, notifications, prompts, schedules, surveys
from .projects import Projects
from .refused import Refused
from .tables import UNIFIED, tables

NODES, LINKS_OF_NODES = "workflow_job_template_nodes", ("success_nodes", "failure_nodes", "always_nodes")
APPROVALS = "workflow_approval_templates"
# Which objects a link leads to, where its name is not the table's.
_LINKED = {
    **dict.fromkeys(LINKS_OF_NODES, NODES),
    "galaxy_credentials": "credentials",
    "input_inventories": "inventories",
    "children": "groups",
    **{
        f"notification_templates_{when}": "notification_templates"
        for when in ("started", "success", "error", "approvals")
    },
}
HIDDEN = "$encrypted$"
# [registry/]path[:tag][@digest]. AWX accepts capital letters in the first part.
_IMAGE = re.compile(
    r"[a-zA-Z0-9][\w.-]*(:\d+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[\w][\w.-]{0,127})?(@[a-z0-9]+:[a-f0-9]{32,})?\Z"
)


def moment():
    """The time as the API writes it. awxkit reads no other form. [sure]"""
    return datetime.now(tz=timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Objects:
    """All objects, by table and ID."""

    def __init__(self, directory, username, password):
        self.projects = Projects(directory)
        self._rows = {name: {} for name in tables()}
        self._links = defaultdict(list)  # (table, id, name of the link) -> IDs in their order
        self.surveys = {}  # (table, id) -> specification
        self._ids = defaultdict(lambda: itertools.count(1))
        for row in credentials.managed():
            self._insert("credential_types", row)
        self._insert("instance_groups", self._defaults("instance_groups", name="default"))
        self._insert("users", self._defaults("users", username=username, password=password, is_superuser=True))

    def _defaults(self, table, **values):
        return {one.name: json.loads(json.dumps(one.default)) for one in tables()[table].fields.values()} | values

    def _insert(self, table, values):
        # Templates of every kind share their IDs.
        number = next(self._ids[UNIFIED if tables()[table].unified else table])
        now = moment()
        self._rows[table][number] = {
            **tables()[table].read_only,
            **values,
            "id": number,
            "created": now,
            "modified": now,
        }
        return number

    def exists(self, table, number):
        if table == UNIFIED:
            return self.unified(number) is not None
        return number in self._rows[table]

    def unified(self, number):
        """(table, row) of a template of any kind, or None."""
        for name, one in tables().items():
            if one.unified and number in self._rows[name]:
                return name, self._rows[name][number]
        return None

    def related(self, table, number):
        """(table, row) of a reference; a deleted object has no fields."""
        if table == UNIFIED:
            return self.unified(number) or (table, {})
        return table, self._rows[table].get(number, {})

    def row(self, table, number):
        """The row of an object."""
        found = self._rows[table].get(number)
        if found is None:
            kind = "".join(word.title() for word in tables()[table].type.split("_"))
            raise Refused.detail(404, f"No {kind} matches the given query.")
        return found

    def rows(self, table):
        """All rows, (table, row) in the order of their IDs."""
        names = [name for name, one in tables().items() if one.unified] if table == UNIFIED else [table]
        return sorted(
            ((name, row) for name in names for row in self._rows[name].values()), key=lambda one: one[1]["id"]
        )

    def create(self, table, data):
        """Create an object; its ID."""
        values = tables()[table].created(data, self.exists)
        self._check(table, values, None)
        number = self._insert(table, values)
        if table == "projects" and values["scm_type"]:
            self.update_project(number)
        return number

    def change(self, table, number, data, whole=False):
        """Change fields of an object; a whole one needs all required fields."""
        row = self.row(table, number)
        if row.get("managed"):
            raise Refused.detail(403, "Modifications not allowed for managed credential types")
        values = tables()[table].changed(data, self.exists)
        missing = [one.name for one in tables()[table].fields.values() if one.required and one.name not in values]
        if whole and missing:
            raise Refused(400, {name: ["This field is required."] for name in missing})
        if (
            table == NODES
            and values.get("workflow_job_template", row["workflow_job_template"]) != row["workflow_job_template"]
        ):
            values.pop("workflow_job_template")
        checked = {**row, **values}
        self._check(table, checked, row)
        if table == "schedules":
            values["next_run"] = checked["next_run"]
        if table == "notification_templates" and "notification_configuration" in values:
            old, new = row["notification_configuration"], values["notification_configuration"]
            values["notification_configuration"] = {
                key: old.get(key) if value == HIDDEN else value for key, value in new.items()
            }
        if table == "credentials" and "inputs" in values:
            kind = self.row("credential_types", row["credential_type"])
            values["inputs"] = credentials.check_inputs(kind, values["inputs"], row["inputs"])
        row.update(values, modified=moment())

    def delete(self, table, number):
        """Delete an object, with what belongs to it."""
        if self.row(table, number).get("managed"):
            raise Refused.detail(403, "Deletion not allowed for managed credential types")
        if table == "instance_groups" and self.row(table, number)["name"] == "default":
            raise Refused.detail(403, "You do not have permission to perform this action.")
        if table == "credential_types" and any(
            row["credential_type"] == number for _table, row in self.rows("credentials")
        ):
            raise Refused.detail(403, "Credential types that are in use cannot be deleted")
        if table == "workflow_job_templates":
            for _table, node in self.rows(NODES):
                if node["workflow_job_template"] == number:
                    self.delete(NODES, node["id"])
        if table == "projects":
            for _table, row in self.rows("job_templates"):
                if row["project"] == number:
                    row["playbook"] = ""
            for _table, row in self.rows("inventory_sources"):
                if row["source_project"] == number:
                    self.delete("inventory_sources", row["id"])
        del self._rows[table][number]
        for key in [key for key in self._links if key[:2] == (table, number)]:
            del self._links[key]
        for (_table, _number, name), ids in self._links.items():
            if _LINKED.get(name, name) == table and number in ids:
                ids.remove(number)
        self._forget(table, number)

    def _forget(self, table, number):
        """References to a deleted object become null, and what cannot be without it goes too."""
        unified = tables()[table].unified
        for name, one in tables().items():
            for key, field in one.fields.items():
                if field.kind != table and not (unified and field.kind == UNIFIED):
                    continue
                for row in [row for row in self._rows[name].values() if row.get(key) == number]:
                    if field.required and row["id"] in self._rows[name]:
                        self.delete(name, row["id"])
                    else:
                        row[key] = None

    def update_project(self, number):
        """Fetch the files of a project."""
        project = self.row("projects", number)
        status, revision, output = self.projects.update(project)
        project.update(status=status, scm_revision=revision or project["scm_revision"])
        return {"id": number, "status": status, "scm_revision": project["scm_revision"], "result_stdout": output}

    def linked(self, table, number, name):
        """The table of a link and the IDs that it has."""
        self.row(table, number)
        if name not in tables()[table].links:
            raise Refused.detail(404, "Not found.")
        return _LINKED.get(name, name), self._links[table, number, name]

    def link(self, table, number, name, data):
        """Associate an object, or end that."""
        target, ids = self.linked(table, number, name)
        if not isinstance(data, dict):
            raise Refused(400, "invalid type for post data")
        other = data.get("id")
        if other is None:
            words = '"id" is required to disassociate' if data.get("disassociate") else "Provide the id of an object."
            raise Refused(400, {"msg": words})
        if not isinstance(other, int) or isinstance(other, bool):
            raise Refused(400, {"msg": '"id" field must be an integer.'})
        if not self.exists(target, other):
            kind = "".join(word.title() for word in tables()[target].type.split("_"))
            raise Refused.detail(400, f"{kind} matching query does not exist.")
        if data.get("disassociate"):
            if other in ids:
                ids.remove(other)
            # AWX deletes a label that no object has.
            if name == "labels" and not any(other in one for key, one in self._links.items() if key[2] == name):
                del self._rows[target][other]
            return
        if name == "credentials":
            # AWX also rejects a credential that the template has.
            self._check_credential(ids, other)
        if name == "galaxy_credentials" and self._kind(other)[0]["kind"] != "galaxy":
            words = f"Credential must be a Galaxy credential, not {self._kind(other)[0]['name']}."
            raise Refused(400, {"msg": words})
        if other in ids:
            return
        if name in LINKS_OF_NODES:
            self._check_path(number, name, other)
        if table in (NODES, "schedules") and name == "credentials":
            of = self.row(table, number)["unified_job_template"]
            prompts.check_credential(of and self.unified(of)[1])
        if name == "children":
            inventories.check_child(number, other, lambda one: self._links["groups", one, "children"])
        ids.append(other)

    def _check_credential(self, ids, number):
        new, mine = self._kind(number)
        if any(self._kind(one) == (new, mine) for one in ids):
            words = f"{new['name']} (id={mine})" if mine else new["name"]
            raise Refused(400, {"error": f"Cannot assign multiple {words} credentials."})
        if new["kind"] not in ("ssh", "vault", "cloud", "net"):
            raise Refused(400, {"error": f"Cannot assign a Credential of kind `{new['kind']}`."})

    def _kind(self, number):
        """The type of a credential, and the ID of a vault: a template has one credential of each."""
        row = self.row("credentials", number)
        kind = self.row("credential_types", row["credential_type"])
        return kind, row["inputs"].get("vault_id", "") if kind["kind"] == "vault" else ""

    def _check_path(self, number, name, other):
        mine, theirs = (self.row(NODES, one)["workflow_job_template"] for one in (number, other))
        if mine != theirs:
            raise Refused.detail(400, "Nodes of different workflows cannot be linked.")
        if any(other in self._links[NODES, number, one] for one in LINKS_OF_NODES if one != name):
            raise Refused(400, {"Error": "Relationship not allowed."})
        if number == other or number in self._after(other):
            raise Refused(400, {"Error": "Cycle detected."})

    def _after(self, number):
        found, waiting = set(), [number]
        while waiting:
            one = waiting.pop()
            for following in itertools.chain(*(self._links[NODES, one, name] for name in LINKS_OF_NODES)):
                if following not in found:
                    found.add(following)
                    waiting.append(following)
        return found

    def approve_by(self, number, data):
        """The approval of a node: create its template."""
        node = self.row(NODES, number)
        node["unified_job_template"] = made = self.create(APPROVALS, data)
        return made

    def _check(self, table, values, row):
        if table == "job_templates" and values["project"] is not None:
            # Its organization is the one of the project.
            values["organization"] = self.row("projects", values["project"])["organization"]
        self._check_unique(table, values, row)
        check = _CHECKS.get(table)
        if check is not None:
            check(self, values, row)

    def _check_unique(self, table, values, row):
        one = tables()[table]
        key = [values.get(name) for name in one.unique]
        if not key:
            return
        for other in self._rows[table].values():
            if other is not row and [other.get(name) for name in one.unique] == key:
                raise _taken(one)

    def _check_credential_type(self, values, row):
        used = row and any(one["credential_type"] == row["id"] for _table, one in self.rows("credentials"))
        if used and values["inputs"] != row["inputs"]:
            raise Refused.detail(403, "Modifications to inputs are not allowed for credential types that are in use")
        credentials.check_type(values)

    def _check_one_credential(self, values, row):
        owners = [name for name in ("organization", "user", "team") if values.get(name)]
        if row is not None:
            return
        if not owners:
            raise Refused.of("detail", "Missing 'user', 'team', or 'organization'.")
        if len(owners) > 1:
            received = f"received {', '.join(sorted(owners))} fields."
            raise Refused.of("detail", f"Only one of 'user', 'team', or 'organization' should be provided, {received}")
        kind = self.row("credential_types", values["credential_type"])
        values["inputs"] = credentials.check_inputs(kind, values["inputs"])

    def _check_project(self, values, row):
        if values["scm_type"] and not values["scm_url"] and values["scm_type"] != "insights":
            raise Refused.of("scm_url", "SCM URL is required.")
        if values["scm_type"] == "archive" and values["scm_branch"]:
            raise Refused.of("scm_branch", "SCM branch cannot be used with archive projects.")
        if values["credential"] is not None:
            kind = self.row("credential_types", self.row("credentials", values["credential"])["credential_type"])
            wanted = "insights" if values["scm_type"] == "insights" else "scm"
            if kind["kind"] != wanted:
                raise Refused.of("credential", f"Credential kind must be '{wanted}'.")
        if values["scm_type"]:
            return
        values["status"] = "ok"
        others = [one["local_path"] for _table, one in self.rows("projects") if one is not row and not one["scm_type"]]
        # AWX also accepts a project without a path. No job can use it.
        outside = values["local_path"][:1] in ("", "/", ".")
        if outside or values["local_path"] in others or not self.projects.folder(values).is_dir():
            raise Refused.of("local_path", "This path is already being used by another manual project.")
        if values["scm_update_on_launch"]:
            raise Refused.of("scm_update_on_launch", "Update options must be set to false for manual projects.")

    def _check_job_template(self, values, row):
        if values["project"] is None:
            raise Refused.of("project", "Job Templates must have a project assigned.")
        if values["inventory"] is None and not values["ask_inventory_on_launch"]:
            raise Refused.of("inventory", "You must either set a default value or ask to prompt on launch.")
        project = self.row("projects", values["project"])
        if not values["playbook"]:
            raise Refused.of("playbook", "Must select playbook for project.")
        if not project["allow_override"] and values["playbook"] not in self.projects.playbooks(project):
            raise Refused.of("playbook", "Playbook not found for project.")
        if values["scm_branch"] and not project["allow_override"]:
            raise Refused.of("scm_branch", "Project does not allow overriding branch.")
        if values["ask_scm_branch_on_launch"] and not project["allow_override"]:
            raise Refused.of("ask_scm_branch_on_launch", "Project does not allow overriding branch.")

    def _check_notification(self, values, row):
        notifications.check(values)

    def _check_inventory(self, values, row):
        if row is not None and values["kind"] != row["kind"]:
            words = 'You cannot turn a regular inventory into a "smart" or "constructed" inventory.'
            raise Refused(405, {"error": words})
        if values["kind"] == "smart" and not values["host_filter"]:
            raise Refused.of("host_filter", "Smart inventories must specify host_filter")

    def _check_group(self, values, row):
        if values["name"] in ("all", "_meta"):
            raise Refused.of("name", "Invalid group name.")

    def _check_instance_group(self, values, row):
        if row is not None and row["name"] == "default" and values["name"] != "default":
            raise Refused.of("name", "default instance group name may not be changed.")

    def _check_environment(self, values, row):
        if row is not None and values["organization"] != row["organization"]:
            raise Refused.of("organization", "Cannot change the organization of an execution environment")
        if not _IMAGE.match(values["image"]):
            raise Refused.of("image", f"The container image name {values['image']} is not valid")

    def _check_inventory_source(self, values, row):
        inventories.check_source(values, self.row)

    def _check_node(self, values, row):
        self._check_prompts(values, complete=False)

    def _check_schedule(self, values, row):
        schedules.check(values["rrule"])
        self._check_prompts(values, complete=True)
        values["next_run"] = schedules.next_run(values["rrule"], values["enabled"], datetime.now(tz=timezone.utc))

    def _check_prompts(self, values, complete):
        found = values["unified_job_template"] and self.unified(values["unified_job_template"])
        if found and found[0] in ("job_templates", "workflow_job_templates"):
            prompts.check(values, *found, self.surveys.get((found[0], found[1]["id"]), {}), complete)

    def shown(self, table, row):
        """The fields of an object as the API returns them."""
        found = {key: value for key, value in row.items() if key not in ("password", "user", "team")}
        if table == "credentials":
            found["inputs"] = credentials.shown(self.row("credential_types", row["credential_type"]), row["inputs"])
        if table == "notification_templates":
            secret = notifications.secrets_of(row["notification_type"])
            found["notification_configuration"] = {
                key: HIDDEN if key in secret and value else value
                for key, value in row["notification_configuration"].items()
            }
        return found

    def survey(self, table, number):
        self.row(table, number)
        return surveys.shown(self.surveys.get((table, number), {}))

    def set_survey(self, table, number, spec):
        self.row(table, number)
        spec = surveys.kept(spec, self.surveys.get((table, number), {}))
        surveys.check(spec)
        self.surveys[table, number] = spec


def _taken(table):
    """The refusal of a second object of a name."""
    if table.unified:
        kind = "".join(word.title() for word in table.type.split("_"))
        return Refused(400, {"__all__": [f"{kind} with this ({', '.join(table.unique)}) combination already exists."]})
    names = [name.replace("_", " ").capitalize() for name in table.unique]
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    field = table.unique[0] if len(names) == 1 else "__all__"
    return Refused(400, {field: [f"{table.type.replace('_', ' ').capitalize()} with this {listed} already exists."]})


_CHECKS = {
    "notification_templates": Objects._check_notification,
    "inventories": Objects._check_inventory,
    "groups": Objects._check_group,
    "instance_groups": Objects._check_instance_group,
    "execution_environments": Objects._check_environment,
    "credential_types": Objects._check_credential_type,
    "credentials": Objects._check_one_credential,
    "projects": Objects._check_project,
    "job_templates": Objects._check_job_template,
    "inventory_sources": Objects._check_inventory_source,
    NODES: Objects._check_node,
    "schedules": Objects._check_schedule,
}
