"""One BMC's Redfish service: user, request, and answer. No sockets."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field

from vsphere_twin.model import bmc as bmcs

from ..https import basic_credentials
from . import bios, messages, resources
from .layout import LAYOUTS
from .messages import Problem

ROOT = "/redfish/v1"
RETRY_AFTER_S = "1"
# Paths that may be read without credentials.
OPEN = ((), ("odata",), ("$metadata",))


@dataclass
class Answer:
    """Response to a client."""

    status: int
    body: dict | None = None
    headers: dict = field(default_factory=dict)


class Service:
    """The service of one BMC. Called with the world's lock held."""

    def __init__(self, world, bmc):
        self.world = world
        self.bmc = bmc
        self.layout = LAYOUTS[bmc.vendor]
        self.sessions: dict[str, str] = {}  # id: token

    @property
    def jobs(self):
        return self.bmc.jobs

    @property
    def power_state(self):
        return "On" if self.bmc.host.power == "poweredOn" else "Off"

    @property
    def registry_path(self):
        return self.layout.registry.format(self.bmc.table.registry)

    @property
    def settings_path(self):
        return self.layout.path(*self.layout.system_path, *self.layout.settings.split("/"))

    def link(self, *parts):
        """A reference to a resource."""
        return {"@odata.id": self.layout.path(*parts)}

    def said(self, name, *arguments, status=None, headers=None, attribute=None):
        """An answer that is a message."""
        body = messages.body(self.layout, self.bmc.vendor, name, arguments, attribute)
        return Answer(status or messages.status_of(name), body, headers or {})

    def done(self):
        """An answer without a body."""
        return Answer(204)

    def handle(self, method, path, headers, data=b""):
        """Answer one request."""
        self.bmc.requests[f"{method} {path.partition('?')[0]}"] += 1
        if self.world.bmc_faults.take_unavailable(self.bmc.host.name):
            return self.said("ServiceTemporarilyUnavailable", RETRY_AFTER_S, headers={"Retry-After": RETRY_AFTER_S})
        try:
            return self._serve(method, path, headers, data)
        except Problem as problem:
            return self.said(problem.name, *problem.arguments, attribute=problem.attribute)
        except bmcs.Refused as refusal:
            return self.said(refusal.message, *refusal.arguments, attribute=refusal.attribute)

    def _serve(self, method, path, headers, data):
        parts = self._parts(path)
        if parts is None:
            raise Problem("ResourceMissingAtURI", path)
        logging_in = method == "POST" and parts == ("SessionService", "Sessions")
        if not (logging_in or (method == "GET" and parts in OPEN)):
            self._authenticate(headers)
        if method in ("GET", "HEAD"):
            return self._get(parts, path, expand="$expand=" in path)
        body = _parsed(data)
        if method == "POST":
            return self._post(parts, path, body)
        if method == "PATCH":
            return self._patch(parts, path, body, headers)
        if method == "DELETE":
            return self._delete(parts, path)
        raise Problem("OperationNotAllowed")

    def _parts(self, path):
        """The parts of an address below the root, in the spelling of the catalogue; None elsewhere."""
        plain = path.partition("?")[0].rstrip("/")
        if plain == "/redfish":
            return ("odata",)
        if not (plain == ROOT or plain.startswith(f"{ROOT}/")):
            return None
        parts = tuple(plain[len(ROOT) :].strip("/").split("/")) if plain != ROOT else ()
        jobs = (*self.layout.manager_path, "Oem", "Dell", "Jobs")
        if self.layout.jobs and parts[: len(jobs)] == jobs:
            # iDRAC 9 shows its jobs at both places.
            parts = (*self.layout.manager_path, "Jobs", *parts[len(jobs) :])
        if self.layout.slash:
            # iLO reads addresses without regard to case.
            known = {tuple(map(str.casefold, one)): one for one in resources.catalogue(self)}
            parts = known.get(tuple(map(str.casefold, parts)), parts)
        return parts

    def _get(self, parts, path, expand=False):
        if parts == ("odata",):
            return Answer(200, {"v1": f"{ROOT}/"})
        body = self._body(parts, path)
        if expand and self.layout.jobs:
            body["Members"] = [self._body(self._parts(one["@odata.id"]), path) for one in body.get("Members", [])]
        return Answer(200, body, {"ETag": _etag(body), "OData-Version": "4.0"})

    def _body(self, parts, path):
        build = resources.catalogue(self).get(parts)
        if build is None:
            raise Problem("ResourceMissingAtURI", path)
        return {"@odata.id": self.layout.path(*parts), **build(self)}

    def _patch(self, parts, path, body, headers):
        target = tuple(self.layout.settings.split("/"))
        takes = [(*self.layout.system_path, *target)]
        if self.layout.bios_writable:
            takes.append((*self.layout.system_path, "Bios"))
        current = self._body(parts, path)
        if parts not in takes:
            raise Problem("OperationNotAllowed")
        wanted = headers.get("If-Match")
        if wanted is None and self.layout.if_match:
            raise Problem("PreconditionRequired")
        if wanted is not None and wanted != "*" and _bare(wanted) != _bare(_etag(current)):
            raise Problem("PreconditionFailed")
        return bios.patch(self, body, headers)

    def _post(self, parts, path, body):
        system, manager = self.layout.system_path, self.layout.manager_path
        settings = (*system, *self.layout.settings.split("/"))
        actions = {
            ("SessionService", "Sessions"): self._log_in,
            (*system, "Actions", "ComputerSystem.Reset"): self._reset,
            (*manager, "Actions", "Manager.Reset"): self._reset_manager,
            (*system, "Bios", "Actions", "Bios.ResetBios"): self._reset_bios,
        }
        if self.layout.jobs:
            actions[(*manager, "Jobs")] = self._make_job
            actions[(*settings, "Actions", "Oem", "DellManager.ClearPending")] = self._clear_pending
        if parts not in actions:
            self._body(parts, path)
            raise Problem("OperationNotAllowed")
        return actions[parts](body)

    def _delete(self, parts, path):
        if parts[:2] == ("SessionService", "Sessions") and len(parts) == 3 and parts[2] in self.sessions:
            self.sessions.pop(parts[2])
            return self.done()
        if self.layout.jobs and parts[:-1] == (*self.layout.manager_path, "Jobs"):
            for job in self.jobs:
                if job.id == parts[-1]:
                    bmcs.delete_job(self.world, self.bmc, job)
                    return self.said("Success")
        self._body(parts, path)
        raise Problem("OperationNotAllowed")

    def _log_in(self, body):
        self._check(body.get("UserName"), body.get("Password"))
        key, token = secrets.token_hex(8), secrets.token_hex(16)
        self.sessions[key] = token
        parts = ("SessionService", "Sessions", key)
        answer = self._body(parts, "")
        return Answer(201, answer, {"X-Auth-Token": token, "Location": self.layout.path(*parts)})

    def _reset(self, body):
        if "ResetType" not in body:
            raise Problem("PropertyMissing", "ResetType")
        bmcs.reset(self.world, self.bmc, body["ResetType"])
        return self.said("Success") if self.bmc.vendor == "hpe" else self.done()

    def _reset_manager(self, body):
        self.sessions.clear()
        return self.done()

    def _reset_bios(self, body):
        bmcs.defaults(self.world, self.bmc)
        return self.said("Success")

    def _clear_pending(self, body):
        bmcs.clear(self.world, self.bmc)
        return self.said("Success")

    def _make_job(self, body):
        if str(body.get("TargetSettingsURI", "")).rstrip("/") != self.settings_path:
            raise Problem("PropertyMissing", "TargetSettingsURI")
        job = bmcs.schedule(self.world, self.bmc)
        location = self.layout.path(*self.layout.manager_path, "Jobs", job.id)
        return self.said("Success", headers={"Location": location})

    def _authenticate(self, headers):
        token = headers.get("X-Auth-Token")
        if token is not None:
            if any(secrets.compare_digest(token.encode(), one.encode()) for one in self.sessions.values()):
                return
            raise Problem("NoValidSession")
        user, password = basic_credentials(headers)
        self._check(user, password)

    def _check(self, user, password):
        right = secrets.compare_digest(str(password).encode(), self.bmc.password.encode())
        if user != self.bmc.username or not right:
            raise Problem("NoValidSession")


def _parsed(data):
    if not data.strip():
        return {}
    try:
        body = json.loads(data)
    except ValueError:
        raise Problem("MalformedJSON") from None
    if not isinstance(body, dict):
        raise Problem("MalformedJSON")
    return body


def _etag(body):
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    return f'"{digest[:16]}"'


def _bare(etag):
    """ETags are compared weakly; clients leave out the quotes."""
    return etag.strip().removeprefix("W/").strip('"')
