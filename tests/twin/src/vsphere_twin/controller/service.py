"""From a request to the controller's API to an answer: who asks, which object, which page."""

from __future__ import annotations

import itertools
import json
import re
import secrets
import threading
import urllib.parse
from dataclasses import dataclass, field

from ..https import basic_credentials
from . import filters
from .jobs import OF, TEMPLATES, TYPES, Jobs
from .objects import APPROVALS, HIDDEN, NODES, Objects, moment
from .refused import Refused
from .roles import APPROVE, LAUNCH, ROLES, Roles
from .tables import LISTED, TOKENS, UNIFIED, tables, whole

API, VERSION = "/api/v2/", "24.6.1"
PAGE, MOST = 25, 200  # objects of a page: by default, and at most
_MEMBERS = re.compile(r"/api/v2/roles/(?P<id>[0-9]{1,20})/users/\Z")
_PATH = re.compile(r"/api/v2/(?P<table>\w+)/(?:(?P<id>[0-9]{1,20})/(?:(?P<part>\w+)/)?)?\Z")


@dataclass
class Answer:
    """Status, body and headers of an answer."""

    status: int
    body: object = None
    headers: dict = field(default_factory=dict)


class Service:
    """The API of one controller."""

    def __init__(self, directory, username, password):
        self.objects = Objects(directory, username, password)
        self.jobs = Jobs(self.objects)
        self.roles = Roles(self.objects)
        self.username, self.password = username, password
        self.requests = []  # (method, path) of every request
        self.tokens = {}  # token -> its object
        self._numbers = itertools.count(1)
        self._updates = {}
        self._lock = threading.RLock()

    def handle(self, method, address, headers, data=b""):
        """Answer a request."""
        parts = urllib.parse.urlsplit(address)
        with self._lock:
            self.requests.append((method, parts.path))
            try:
                answer = self._answer(method, parts, headers, data)
            except Refused as refused:
                answer = Answer(refused.status, refused.body)
        answer.headers.update({"X-API-Product-Name": "AWX", "X-API-Product-Version": VERSION})
        return answer

    def _answer(self, method, parts, headers, data):
        if parts.path == "/api/":
            return Answer(200, {"current_version": API, "available_versions": {"v2": API}, "oauth2": "/api/o/"})
        if parts.path == API:
            # AWX lists the inventories under another name. [sure]
            names = sorted([*tables(), *TYPES, UNIFIED, "config", "me", "ping"])
            return Answer(200, {"inventory" if name == "inventories" else name: f"{API}{name}/" for name in names})
        if parts.path == f"{API}ping/":
            return Answer(
                200, {"ha": False, "version": VERSION, "active_node": "twin", "instances": [], "instance_groups": []}
            )
        user = self._user(headers)
        if user is None:
            raise Refused.detail(
                401, "Authentication credentials were not provided. To establish a login session, visit /api/login/."
            )
        if not parts.path.endswith("/"):
            raise Refused.detail(404, "The requested resource could not be found.")
        if method != "GET" and self._scope(headers) == "read":
            raise Refused.detail(403, "You do not have permission to perform this action.")
        body = _parsed(data) if method in ("POST", "PUT", "PATCH") else None
        if parts.path == f"{API}config/":
            return Answer(
                200, {"version": VERSION, "license_info": {"license_type": "open"}, "project_base_dir": "projects"}
            )
        if parts.path == f"{API}me/":
            return Answer(200, _page([self._shown("users", user)]))
        if parts.path.startswith(f"{API}tokens/"):
            return self._tokens_of(method, parts, user, body)
        if parts.path.startswith(f"{API}project_updates/") and method == "GET":
            found = self._updates.get(parts.path.rstrip("/").rpartition("/")[2])
            return Answer(200, found) if found else _missing()
        members = _MEMBERS.match(parts.path)
        if members is not None:
            return self._members(method, int(members["id"]), body, user)
        found = _PATH.match(parts.path)
        if found is None or found["table"] not in {*tables(), *TYPES, UNIFIED}:
            return _missing()
        table, number = found["table"], found["id"]
        if table in TYPES:
            return self._launched(method, table, number, found["part"], parts.query, user)
        if method != "GET":
            self._require(user, table, number and int(number), found["part"])
        if number is None:
            return self._list(method, table, parts.query, body)
        if found["part"] is not None:
            return self._part(method, table, int(number), found["part"], body, parts.query)
        return self._one(method, table, int(number), body)

    def _require(self, user, table, number, part):
        """Reject a user without the role that a change or a launch needs."""
        if part == "launch" and table in OF:
            self.roles.require(user, LAUNCH, table, number)
        else:
            self.roles.require_change(user, table, number)

    def _members(self, method, role, body, user):
        if method == "GET":
            rows = [self._shown("users", self.objects.row("users", one)) for one in self.roles.members(role)]
            return Answer(200, _page(rows))
        if method != "POST":
            return Answer(405, {"detail": f'Method "{method}" not allowed.'})
        if not user["is_superuser"]:
            raise Refused.detail(403, "You do not have permission to perform this action.")
        self.roles.grant(role, body)
        return Answer(204)

    def _launched(self, method, table, number, part, query, user):
        """Jobs, jobs of workflows, and approvals."""
        if part in ("approve", "deny") and table == "workflow_approvals" and method == "POST":
            job = self.jobs.row("workflow_jobs", self.jobs.row(table, int(number))["workflow_job"])
            self.roles.require(user, APPROVE, "workflow_job_templates", job["unified_job_template"])
            self.jobs.answer(int(number), part == "approve", user)
            return Answer(204)
        if method != "GET":
            return Answer(405, {"detail": f'Method "{method}" not allowed.'})
        if number is None:
            return self._jobs(table, self.jobs.listed(table), f"{API}{table}/", query)
        if part == "workflow_nodes" and table == "workflow_jobs":
            name = dict(urllib.parse.parse_qsl(query)).get("job__name")
            return Answer(200, _page(self.jobs.shown_nodes(int(number), name)))
        return _missing() if part else Answer(200, self._job(table, self.jobs.row(table, int(number))))

    def _jobs(self, table, rows, path, query):
        return _listed(table, [(table, row) for row in rows], path, query, self._job, self.objects.related)

    def _job(self, table, row):
        url = row["url"]
        related = {"workflow_jobs": ("workflow_nodes",), "workflow_approvals": ("approve", "deny")}.get(table, ())
        shown = {key: value for key, value in row.items() if key not in ("credentials", "survey_passwords")}
        variables, hidden = json.loads(row["extra_vars"]), row.get("survey_passwords", ())
        if variables:
            shown["extra_vars"] = json.dumps(
                {key: HIDDEN if key in hidden else value for key, value in variables.items()}
            )
        return {**shown, "related": {name: f"{url}{name}/" for name in related}, "summary_fields": {}}

    def _user(self, headers):
        users = [row for _table, row in self.objects.rows("users")]
        token = _bearer(headers)
        if token is not None:
            user = self.tokens.get(token, {}).get("user")
            return next((row for row in users if row["id"] == user), None)
        name, password = basic_credentials(headers)
        return next((row for row in users if name and row["username"] == name and row["password"] == password), None)

    def _scope(self, headers):
        return self.tokens.get(_bearer(headers), {"scope": "write"})["scope"]

    def _tokens_of(self, method, parts, user, body):
        path = f"{API}{TOKENS}/"
        if method == "POST":
            scope = body.get("scope", "write")
            if scope not in ("read", "write"):
                raise Refused.of(
                    "scope", "Must be a simple space-separated string with allowed scopes ['read', 'write']."
                )
            token, number = secrets.token_urlsafe(24), next(self._numbers)
            row = {"id": number, "type": LISTED[TOKENS].type, "url": f"{path}{number}/", "created": moment()}
            row.update(scope=scope, user=user["id"], description=body.get("description", ""))
            self.tokens[token] = row
            return Answer(201, {**row, "token": token})
        if method == "GET" and parts.path == path:
            # A system administrator sees the tokens of all users. [sure]: AWX 24.6.1, awx/main/access.py
            rows = [row for row in self.tokens.values() if user["is_superuser"] or row["user"] == user["id"]]
            of = [(TOKENS, row) for row in rows]
            return _listed(TOKENS, of, path, parts.query, _masked, self.objects.related)
        number = parts.path.rstrip("/").rpartition("/")[2]
        if method == "DELETE" and whole(number) is not None:
            kept = {key: row for key, row in self.tokens.items() if row["id"] != int(number)}
            if len(kept) == len(self.tokens):
                raise Refused.detail(404, "No OAuth2AccessToken matches the given query.")
            self.tokens = kept
            return Answer(204)
        return Answer(405, {"detail": f'Method "{method}" not allowed.'})

    def _list(self, method, table, query, body):
        if table == APPROVALS:
            return _missing()
        if method == "GET":
            return _listed(table, self.objects.rows(table), f"{API}{table}/", query, self._shown, self.objects.related)
        if method != "POST" or table == UNIFIED:
            return Answer(405, {"detail": f'Method "{method}" not allowed.'})
        number = self.objects.create(table, body)
        shown = self._shown(table, self.objects.row(table, number))
        if table == "projects" and shown["scm_type"]:
            self._note_update(number)
            shown["summary_fields"]["current_update"] = {"id": number, "status": "pending"}
        return Answer(201, shown)

    def _note_update(self, number):
        project = self.objects.row("projects", number)
        self._updates[str(number)] = {
            **{name: project[name] for name in ("id", "name", "status", "scm_revision")},
            "type": "project_update",
            "url": f"{API}project_updates/{number}/",
            "finished": project["modified"],
            "failed": project["status"] != "successful",
            "elapsed": 0.1,
        }
        return self._updates[str(number)]

    def _one(self, method, table, number, body):
        if method in ("PATCH", "PUT"):
            self.objects.change(table, number, body, whole=method == "PUT")
        elif method == "DELETE" and table != "labels":
            active = [{"id": row["id"], "type": row["type"]} for row in self.jobs.active(number)] if table in OF else []
            if active:
                raise Refused(409, {"error": "Resource is being used by running jobs.", "active_jobs": active})
            self.objects.delete(table, number)
            return Answer(204)
        elif method != "GET":
            return Answer(405, {"detail": f'Method "{method}" not allowed.'})
        return Answer(200, self._shown(table, self.objects.row(table, number)))

    def _part(self, method, table, number, part, body, query):
        if part == "survey_spec" and tables()[table].survey:
            return self._survey(method, table, number, body)
        if part == "create_approval_template" and table == NODES and method == "POST":
            made = self.objects.approve_by(number, body)
            return Answer(201, self._shown(APPROVALS, self.objects.row(APPROVALS, made)))
        if part == "launch" and table in OF and method == "GET":
            return Answer(200, self.jobs.asked(table, number))
        if table in OF and part == OF[table] and method == "GET":
            rows = [row for row in self.jobs.listed(part) if row["unified_job_template"] == number]
            return self._jobs(part, rows, f"{API}{table}/{number}/{part}/", query)
        if table == TEMPLATES and part == "slice_workflow_jobs" and method == "GET":
            rows = [row for row in self.jobs.listed("workflow_jobs") if row.get("job_template") == number]
            return self._jobs("workflow_jobs", rows, f"{API}{table}/{number}/{part}/", query)
        if part == "launch" and table in OF and method == "POST":
            job, ignored = self.jobs.launch(table, number, body)
            # The job of a template with slices is a workflow job.
            of = f"{job['type']}s"
            return Answer(201, {**self._job(of, job), job["type"]: job["id"], "ignored_fields": ignored})
        if part == "update" and table == "projects" and method == "POST":
            if not self.objects.row(table, number)["scm_type"]:
                return Answer(405, {"detail": 'Method "POST" not allowed.'})
            self.objects.update_project(number)
            return Answer(202, {**self._note_update(number), "project_update": number})
        target, ids = self.objects.linked(table, number, part)
        if method == "GET":
            rows = [(target, self.objects.row(target, one)) for one in ids]
            # AWX keeps the order of these two only.
            if part not in ("instance_groups", "galaxy_credentials"):
                rows = filters.found(target, rows, [])
            return Answer(200, _page([self._shown(*one) for one in rows]))
        if method != "POST":
            return Answer(405, {"detail": f'Method "{method}" not allowed.'})
        self.objects.link(table, number, part, body)
        return Answer(204)

    def _survey(self, method, table, number, body):
        if method == "POST":
            self.objects.set_survey(table, number, body)
            return Answer(200)
        if method == "DELETE":
            self.objects.surveys.pop((table, number), None)
            return Answer(200)
        return Answer(200, self.objects.survey(table, number))

    def _shown(self, table, row):
        one, url = tables()[table], f"{API}{table}/{row['id']}/"
        related = {name: f"{url}{name}/" for name in one.links}
        if row.get("kind") != "constructed":
            related.pop("input_inventories", None)
        if one.survey:
            related["survey_spec"] = f"{url}survey_spec/"
            related["launch"] = f"{url}launch/"
            related[OF[table]] = f"{url}{OF[table]}/"
        if table == TEMPLATES:
            related["slice_workflow_jobs"] = f"{url}slice_workflow_jobs/"
        if table == "projects":
            related["update"] = f"{url}update/"
        if table == NODES:
            related["create_approval_template"] = f"{url}create_approval_template/"
        for name, field_ in one.fields.items():
            if field_.is_reference and row.get(name) is not None:
                of = self.objects.unified(row[name])[0] if field_.kind == UNIFIED else field_.kind
                related[name] = f"{API}{of}/{row[name]}/"
        shown = {"id": row["id"], "type": one.type, "url": url, "related": related, "summary_fields": {}}
        shown.update({key: value for key, value in self.objects.shown(table, row).items() if key != "id"})
        if table in ROLES:
            shown["summary_fields"]["object_roles"] = self.roles.of(table, row["id"])
        if table == NODES:
            template = row["unified_job_template"] and self.objects.unified(row["unified_job_template"])[1]
            if template:
                summary = {name: template[name] for name in ("id", "name", "description")}
                shown["summary_fields"]["unified_job_template"] = summary
            shown.update(
                {name: self.objects.linked(table, row["id"], name)[1] for name in one.links if name.endswith("_nodes")}
            )
        return json.loads(json.dumps(shown))


def _listed(table, rows, path, query, show, related):
    """A page of the rows that fit a request, each as show(table, row) returns it."""
    given = urllib.parse.parse_qsl(query, keep_blank_values=True)
    rows = filters.found(table, rows, given, related)
    paging = dict(given)
    size = min(_number(paging.get("page_size")) or PAGE, MOST)
    page = _number(paging.get("page", "1"))
    if page < 1:
        raise Refused.detail(404, "Invalid page.")
    some = rows[(page - 1) * size : page * size]
    if page > 1 and not some:
        raise Refused.detail(404, "Invalid page.")
    following = None
    if len(rows) > page * size:
        rest = urllib.parse.urlencode([*((key, value) for key, value in given if key != "page"), ("page", page + 1)])
        following = f"{path}?{rest}"
    return Answer(200, _page([show(name, row) for name, row in some], len(rows), following))


def _masked(_table, row):
    """A token as a list shows it. Only the answer to its creation has its text."""
    return {**row, "token": "************"}


def _number(text):
    """The number in a text, or 0."""
    return max(whole(text or "") or 0, 0)


def _page(results, count=None, following=None):
    return {"count": len(results) if count is None else count, "next": following, "previous": None, "results": results}


def _missing():
    return Answer(404, {"detail": "The requested resource could not be found."})


def _bearer(headers):
    """The token of a request; None if it logs in otherwise."""
    scheme, _space, token = headers.get("Authorization", "").partition(" ")
    return token if scheme.casefold() == "bearer" else None


def _parsed(data):
    try:
        found = json.loads(data or b"{}")
    except ValueError as problem:
        raise Refused.detail(400, f"JSON parse error - {problem}\nPossible cause: trailing comma.") from None
    if not isinstance(found, dict):
        raise Refused.detail(400, "JSON parse error - not a JSON object")
    return found
