# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""One object of a cluster: applied with server-side apply, set back to earlier values, or deleted."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ansible.module_utils.basic import env_fallback
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.journal import HIDDEN
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.kubernetes import api, fields

if TYPE_CHECKING:
    from typing import Callable


def _of_environment(name: str) -> dict[str, Any]:
    """A default from the variable that the modules of kubernetes.core read."""
    return {"fallback": (env_fallback, [f"K8S_AUTH_{name}"])}


ARGUMENTS: dict[str, Any] = {
    "definition": {"type": "dict", "required": True},
    "secret_data": {"type": "dict", "no_log": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "values": {"type": "dict"},
    "uid": {"type": "str"},
    "field_manager": {"type": "str", "default": "aiready.vsphere"},
    "force": {"type": "bool", "default": False},
    "kubeconfig": {"type": "path", **_of_environment("KUBECONFIG")},
    "context": {"type": "str", **_of_environment("CONTEXT")},
    "host": {"type": "str", **_of_environment("HOST")},
    "api_key": {"type": "str", "no_log": True, **_of_environment("API_KEY")},
    "ca_cert": {"type": "path", **_of_environment("SSL_CA_CERT")},
}
EXISTS = "exists"
# Why an object is not ours any more: it is gone, another one has its name, or another manager set its fields.
GONE, OTHER, CHANGED, FILLED = (
    "kubernetes_object_gone",
    "kubernetes_object_replaced",
    "kubernetes_object_changed",
    "kubernetes_namespace_not_empty",
)
SHOWN = 5
# Seconds for controllers to delete what belongs to a deleted object.
GONE_S = 120


@dataclass(frozen=True)
class Request:
    """What the task requests for an object."""

    definition: Mapping[str, Any]
    secret: Mapping[str, str] = field(default_factory=dict)
    absent: bool = False
    # Earlier values of fields, by path: the object gets them back. None: the field did not exist.
    values: Mapping[str, Any] | None = None
    uid: str = ""
    manager: str = "aiready.vsphere"
    force: bool = False

    @property
    def label(self) -> str:
        """Kind, namespace and name."""
        metadata = self.definition["metadata"]
        where = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
        return f"{self.definition['kind']} {where}{metadata['name']}"


@dataclass(frozen=True)
class State:
    """An object as it is or would be; no fields if it does not exist."""

    exists: bool
    fields: Mapping[str, Any] = field(default_factory=dict)
    secret: bool = False
    uid: str = ""
    version: str = ""
    managers: Sequence[str] = ()
    # What a namespace contains.
    inside: Sequence[str] = ()


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Sentences about parameters that contradict each other."""
    made = params["definition"]
    metadata = made.get("metadata") or {}
    problems = [
        f"The option definition has no {name}. Set it."
        for name, value in (
            ("apiVersion", made.get("apiVersion")),
            ("kind", made.get("kind")),
            ("metadata.name", metadata.get("name")),
        )
        if not value
    ]
    if params["state"] == "absent" and not params.get("uid"):
        problems.append("The option uid is missing. The module deletes only an object with a known uid.")
    return problems


def request_of(params: Mapping[str, Any]) -> Request:
    """The request of valid parameters."""
    return Request(
        params["definition"],
        params.get("secret_data") or {},
        params["state"] == "absent",
        params.get("values"),
        params.get("uid") or "",
        params["field_manager"],
        params["force"],
    )


def before_runs(request: Request, now: State) -> dict[str, Any]:
    """The definition with earlier values, without fields that others changed since."""
    values = request.values or {}
    body = dict(request.definition)
    for path, value in fields.leaves(request.definition).items():
        if path not in values and now.fields.get(path) != value:
            body = fields.put(body, path, None)
    for path, value in values.items():
        body = fields.put(body, path, value)
    return body


class Objects(Noun[Request, State]):
    """Objects of one cluster."""

    def __init__(self, params: Mapping[str, Any], connect: Callable[[Mapping[str, Any]], Any] = api.Api) -> None:
        self._params, self._connect = params, connect
        self._api: Any = None
        self._paths: dict[str, str] = {}
        self._would: dict[str, State] = {}

    def read(self, items: Sequence[Item[Request, State]]) -> None:
        for item in items:
            request = item.requested
            try:
                if self._api is None:
                    self._api = self._connect(self._params)
                self._paths[item.label] = self._api.path(request.definition)
                item.now = self._state(request, self._api.get(self._paths[item.label]))
                item.ids.update(uid=item.now.uid or None)
                if not request.absent and not self._lost(request, item.now):
                    answer = self._apply(item, dry=True)
                    self._would[item.label] = self._state(request, answer)
            except api.Rejected as error:
                if error.code == 404 and request.uid:
                    # Its kind or its namespace is gone.
                    item.now = State(False)
                    continue
                item.error = _error(request, "apply", error)

    @staticmethod
    def _lost(request: Request, now: State) -> bool:
        return bool(request.uid) and now.uid != request.uid

    def _apply(self, item: Item[Request, State], dry: bool) -> Mapping[str, Any]:
        request = item.requested
        body = dict(request.definition if request.values is None else before_runs(request, item.now))
        if request.secret:
            body["data"] = dict(request.secret)
        # The comparison also reports the values that others set. The run does not take them over.
        force = request.force or (dry and request.values is not None)
        answer: Mapping[str, Any] = self._api.apply(self._paths[item.label], body, request.manager, force, dry)
        return answer

    def _state(self, request: Request, found: Mapping[str, Any] | None) -> State:
        if found is None:
            return State(False)
        metadata = found["metadata"]
        inside: list[str] = []
        if request.absent and found["kind"] == "Namespace":
            rows = self._api.inside(metadata["name"])
            inside = [f"{kind} {one['metadata']['name']}" for kind, one in rows]
        return State(
            True,
            fields.leaves(found),
            found["kind"] == "Secret",
            str(metadata.get("uid") or ""),
            str(metadata.get("resourceVersion") or ""),
            fields.others(metadata.get("managedFields") or (), request.manager),
            inside,
        )

    def want(self, item: Item[Request, State]) -> State:
        request, now = item.requested, item.now
        if request.absent and not now.exists:
            return now
        if self._lost(request, now):
            raise _of_another(request, now)
        if not request.absent:
            return self._would[item.label]
        if now.managers:
            raise OperatorError(
                request.label,
                "cannot delete the object of an earlier run",
                f"Fields of the object are set by {', '.join(now.managers)}.",
                "Nothing was changed. Delete it with kubectl if nobody needs it",
                CHANGED,
                managers=list(now.managers),
            )
        if now.inside:
            more = f" and {len(now.inside) - SHOWN} more" if len(now.inside) > SHOWN else ""
            raise OperatorError(
                request.label,
                "cannot delete the namespace",
                f"It contains {', '.join(now.inside[:SHOWN])}{more}.",
                "Nothing was changed. Delete the objects first",
                FILLED,
            )
        return State(False)

    def compare(self, now: State, wanted: State) -> list[Change]:
        changes = [Change(EXISTS, now.exists, wanted.exists)] if now.exists != wanted.exists else []
        if not wanted.exists:
            return changes
        for path in sorted({*now.fields, *wanted.fields}):
            before, after = now.fields.get(path), wanted.fields.get(path)
            if before != after:
                changes.append(Change(path, _shown(now, wanted, path, before), _shown(now, wanted, path, after)))
        return changes

    def apply(self, items: Sequence[Item[Request, State]]) -> None:
        for item in items:
            request, path = item.requested, self._paths[item.label]
            item.touched = True
            try:
                if request.absent:
                    self._api.delete(path, item.now.uid, item.now.version)
                    item.proved = self._deleted(path, request, item.now)
                else:
                    item.proved = self._state(request, self._apply(item, dry=False))
                    item.ids.update(uid=item.proved.uid)
            except api.Rejected as error:
                item.error = _error(request, "delete" if request.absent else "apply", error)
                # A server that fails, or does not answer, may still have carried the request out.
                item.touched = not error.code or error.code >= 500
                item.proved = None if item.touched else item.now

    def _deleted(self, path: str, request: Request, now: State) -> State:
        """The object after its deletion: a finalizer may keep it, and its pods need time to end."""
        until = time.monotonic() + GONE_S
        while True:
            found = self._api.get(path)
            if found is None or str(found["metadata"].get("uid") or "") != now.uid:
                return State(False)
            if time.monotonic() > until:
                return self._state(request, found)
            time.sleep(1)

    def prove(self, items: Sequence[Item[Request, State]]) -> None:
        """The answer of the server is the stored object. Controllers may change it at any later moment."""
        for item in items:
            left = self.compare(item.proved, item.wanted) if item.proved and item.error is None else []
            if left:
                reported = "; ".join(map(str, left[:SHOWN]))
                item.error = OperatorError(
                    item.requested.label,
                    "the API server stored other values",
                    f"They differ: {reported}.",
                    "Check the admission webhooks of the cluster",
                    "not_proved",
                )

    def project(self, state: State) -> dict[str, object]:
        shown = {path: HIDDEN if state.secret and is_data(path) else one for path, one in state.fields.items()}
        return {"exists": state.exists, "uid": state.uid, "fields": shown}


def _of_another(request: Request, now: State) -> OperatorError:
    """The object of the run is gone; another one may have its name."""
    failed, todo = "cannot restore the object of an earlier run", "Nothing was changed. Check who deleted it"
    had = f"That object had the uid {request.uid}."
    if not now.exists:
        return OperatorError(request.label, failed, f"{had} No object has this name.", todo, GONE)
    found = f"{had} The object of this name has the uid {now.uid}."
    return OperatorError(request.label, failed, found, todo, OTHER, uid=now.uid)


def is_data(path: str) -> bool:
    # kubectl apply repeats the content in an annotation.
    return path.startswith(("data", "stringData")) or "last-applied-configuration" in path


def _shown(now: State, wanted: State, path: str, value: Any) -> Any:
    return HIDDEN if value is not None and (now.secret or wanted.secret) and is_data(path) else value


def _error(request: Request, verb: str, error: api.Rejected) -> OperatorError:
    """The answer of the server as an error. The role names the cause and the fix from its status."""
    status = error.status
    details = status.get("details") or {}
    code = CHANGED if request.values is not None and error.code == 409 else "kubernetes_refused"
    return OperatorError(
        request.label,
        f"cannot {verb} the object",
        f"The API server reports: {str(error).rstrip('.')}.",
        "Correct the definition, or check the rights of the user and the API server",
        code,
        status={
            "message": str(error),
            "reason": status.get("reason"),
            "details": {"causes": details.get("causes") or []},
        },
    )
