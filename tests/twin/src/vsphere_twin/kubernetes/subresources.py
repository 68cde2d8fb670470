"""Requests beside the object itself: logs of a pod, eviction, binding and scale."""

from __future__ import annotations

from . import options, patches, refused, unmarshal
from .refused import Refused
from .requests import Answer

_NAME = {"type": "object", unmarshal.GO: "v1.ObjectMeta", "properties": {"name": {"type": "string"}}}
_REPLICAS = {"type": "object", "properties": {"replicas": {"type": "integer"}}}
_SCALE = {"type": "object", "properties": {"metadata": _NAME, "spec": _REPLICAS}}
_TARGET = {**_NAME, unmarshal.GO: "v1.ObjectReference"}
_BINDING = {"type": "object", "properties": {"metadata": _NAME, "target": _TARGET}}


def found(cluster, request):
    """The object of a request."""
    obj = cluster.get(request.kind, request.name, request.namespace)
    if obj is None:
        raise refused.not_found(request.kind, request.name)
    return obj


def log(cluster, request):
    lasting = options.number(request, "tailLines")
    pod = found(cluster, request)
    if not pod["spec"].get("nodeName"):
        return Answer(204, b"", content_type="text/plain")
    names = [one["name"] for one in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"])]
    container = request.query.get("container") or ""
    if not container and len(names) > 1:
        text = f"a container name must be specified for pod {request.name}, choose one of: [{' '.join(names)}]"
        raise Refused(400, text)
    container = container or names[0]
    if container not in names:
        raise Refused(400, f"container {container} is not valid for pod {request.name}")
    rows = pod["status"].get("containerStatuses", []) + pod["status"].get("initContainerStatuses", [])
    state = next((one.get("state", {}) for one in rows if one["name"] == container), {"waiting": {}})
    last = next((one.get("lastState") for one in rows if one["name"] == container), None) or {}
    if request.flag("previous") and "terminated" not in last:
        text = f'previous terminated container "{container}" in pod "{request.name}" not found'
        raise Refused(400, text)
    if "waiting" in state:
        reason = state["waiting"].get("reason") or "ContainerCreating"
        text = f'container "{container}" in pod "{request.name}" is waiting to start: {reason}'
        if reason in ("ImagePullBackOff", "ErrImagePull"):
            text = text.rpartition(": ")[0] + ": trying and failing to pull image"
        raise Refused(400, text)
    text = cluster.logs.get((request.namespace, request.name, container), "")
    text = text() if callable(text) else text
    if request.query.get("tailLines"):
        lines = text.splitlines(keepends=True)
        text = "".join(lines[len(lines) - min(len(lines), max(0, lasting)) :])
    return Answer(200, text.encode(), content_type="text/plain")


def exec_(cluster, request):
    found(cluster, request)
    if request.headers.get("Upgrade"):
        raise Refused(501, "The twin runs no commands in pods.", reason="NotImplemented")
    raise Refused(400, "Upgrade request required")


def binding(cluster, request):
    given = _decoded(request, "Binding", _BINDING)
    if (given.get("metadata") or {}).get("name", request.name) != request.name:
        raise Refused(400, "name in URL does not match name in Binding object")
    pod, node = found(cluster, request), (given.get("target") or {}).get("name")
    if not node:
        row = ("FieldValueRequired", "target.name", "Required value")
        raise refused.invalid_as("Binding", "", request.name, [row])
    if not request.dry_run:
        cluster.change("pods", pod, request.manager, spec={**pod["spec"], "nodeName": node})
    return Answer(201, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})


def eviction(cluster, request):
    cluster.deleted(request.kind, found(cluster, request), dry_run=request.dry_run)
    return Answer(201, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})


def scale(cluster, request):
    old = found(cluster, request)
    if request.method in ("PUT", "PATCH"):
        given = _decoded(request, "Scale", _SCALE)
        if request.method == "PUT" and not (given.get("metadata") or {}).get("name"):
            raise refused.nameless(request.name)
        wanted = patches.merge(_scale_of(old), given)
        spec = {**old["spec"], "replicas": (wanted.get("spec") or {}).get("replicas", 0)}
        old = cluster.change(request.kind.plural, old, request.manager, spec=spec)
    return Answer(200, _scale_of(old))


def _decoded(request, kind, schema):
    """A body of another kind than that of the resource."""
    given = request.parsed()
    unmarshal.header(given, request.raw, kind)
    text = unmarshal.problem(schema, given, kind)
    if text:
        raise Refused(400, f'{kind} in version "v1" cannot be handled as a {kind}: {text}')
    return given or {}


def _scale_of(obj):
    metadata = {
        key: obj["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    }
    status = {"replicas": obj.get("status", {}).get("replicas", 0)}
    spec = {"replicas": obj["spec"].get("replicas", 1)}
    return {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status}


SERVED = {"log": log, "exec": exec_, "eviction": eviction, "binding": binding, "scale": scale}
