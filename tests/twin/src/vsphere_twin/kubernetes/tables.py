"""Objects as tables, which kubectl prints, and as metadata only, by the `Accept` of a request."""

from __future__ import annotations

import datetime

_VERSION = "meta.k8s.io/v1"
_NONE = "<none>"
_UNITS = ((172800, 86400, "d"), (10800, 3600, "h"), (120, 60, "m"), (0, 1, "s"))


def form(headers):
    """The form that a client prefers: Table, PartialObjectMetadata, PartialObjectMetadataList or none."""
    first = headers.get("Accept", "").partition(",")[0].replace(" ", "").split(";")
    if "g=meta.k8s.io" not in first:
        return ""
    return next((one.partition("=")[2] for one in first if one.startswith("as=")), "")


def shown(headers, query, obj):
    """An object or a list in the form that the client prefers."""
    wanted, items = form(headers), obj.get("items")
    if wanted == "Table":
        rows = [obj] if items is None else items
        return _table(obj["kind"].removesuffix("List") if items is not None else obj["kind"], rows, obj, query)
    if not wanted.startswith("PartialObjectMetadata") or obj["kind"] == "Status":
        return obj
    if items is None:
        return _partial(obj)
    kind = {"kind": "PartialObjectMetadataList", "apiVersion": _VERSION}
    return {**kind, "metadata": obj["metadata"], "items": [_partial(one) for one in items]}


def _partial(obj):
    return {"kind": "PartialObjectMetadata", "apiVersion": _VERSION, "metadata": obj["metadata"]}


def _table(kind, rows, obj, query):
    columns = _COLUMNS.get(kind, {"Name": None, "Age": _age})
    definitions = [
        {"name": name.rstrip("+"), "type": "string", "format": "name" if name == "Name" else ""}
        | {"description": "", "priority": int(name.endswith("+"))}
        for name in columns
    ]
    kept = query.get("includeObject", "Metadata")
    found = []
    for one in rows:
        cells = [read(one) if read else one["metadata"]["name"] for read in columns.values()]
        whole = {"Object": one, "Metadata": _partial(one)}.get(kept)
        found.append({"cells": cells, **({"object": whole} if whole else {})})
    names = ("resourceVersion", "continue", "remainingItemCount")
    metadata = {key: obj["metadata"][key] for key in names if key in obj["metadata"]}
    return {
        "kind": "Table",
        "apiVersion": _VERSION,
        "metadata": metadata,
        "columnDefinitions": definitions,
        "rows": found,
    }


def _seconds(text):
    at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    at = at if at.tzinfo else at.replace(tzinfo=datetime.timezone.utc)
    return max(0, int((datetime.datetime.now(datetime.timezone.utc) - at).total_seconds()))


def _since(text):
    try:
        seconds = _seconds(text or "")
    except ValueError:
        return "<unknown>"
    _least, size, unit = next(row for row in _UNITS if seconds >= row[0])
    rest = seconds % size
    if unit == "m" and seconds < 600 and rest:
        return f"{seconds // 60}m{rest}s"
    return f"{seconds // size}{unit}"


def _age(obj):
    return _since(obj["metadata"].get("creationTimestamp"))


def _at(*path, empty=_NONE):
    def read(obj):
        for key in path:
            obj = obj.get(key) if isinstance(obj, dict) else None
        return empty if obj in (None, "") else str(obj)

    return read


def _count(*path):
    return _at(*path, empty="0")


def _node_status(node):
    ready = next((one["status"] for one in node["status"].get("conditions", ()) if one["type"] == "Ready"), "Unknown")
    text = {"True": "Ready", "False": "NotReady"}.get(ready, "Unknown")
    return text + (",SchedulingDisabled" if node["spec"].get("unschedulable") else "")


def _roles(node):
    prefix = "node-role.kubernetes.io/"
    names = [one.removeprefix(prefix) for one in node["metadata"].get("labels") or () if one.startswith(prefix)]
    return ",".join(sorted(filter(None, names))) or _NONE


def _address(kind):
    def read(node):
        found = (one["address"] for one in node["status"].get("addresses", ()) if one["type"] == kind)
        return next(found, _NONE)

    return read


def _pod_status(pod):
    if pod["metadata"].get("deletionTimestamp"):
        return "Terminating"
    status = pod.get("status") or {}
    text = status.get("reason") or status.get("phase") or "Unknown"
    for one in status.get("containerStatuses") or ():
        state = one.get("state") or {}
        part = state.get("waiting") or state.get("terminated") or {}
        text = part.get("reason") or text
    return text


def _pod_ready(pod):
    rows = (pod.get("status") or {}).get("containerStatuses") or ()
    return f"{sum(bool(one.get('ready')) for one in rows)}/{len(pod['spec']['containers'])}"


def _restarts(pod):
    return str(sum(one.get("restartCount", 0) for one in (pod.get("status") or {}).get("containerStatuses") or ()))


def _ready(obj):
    return f"{(obj.get('status') or {}).get('readyReplicas', 0)}/{obj['spec'].get('replicas', 1)}"


def _job_status(job):
    found = [one["type"] for one in (job.get("status") or {}).get("conditions") or () if one["status"] == "True"]
    return next((one for one in ("Complete", "Failed", "Suspended") if one in found), "Running")


def _job_done(job):
    return f"{(job.get('status') or {}).get('succeeded', 0)}/{job['spec'].get('completions', 1)}"


def _job_duration(job):
    status = job.get("status") or {}
    if not status.get("startTime"):
        return ""
    end = _seconds(status["completionTime"]) if status.get("completionTime") else 0
    return f"{max(0, _seconds(status['startTime']) - end)}s"


def _ports(service):
    rows = service["spec"].get("ports") or ()
    return ",".join(f"{one['port']}/{one.get('protocol', 'TCP')}" for one in rows) or _NONE


def _size(obj):
    return str(len(obj.get("data") or ()) + len(obj.get("binaryData") or ()))


def _about(event):
    given = event.get("involvedObject") or {}
    return f"{given.get('kind', '').lower()}/{given.get('name', '')}"


# Columns by kind; `+` marks those of `-o wide`.
_COLUMNS = {
    "Node": {
        "Name": None,
        "Status": _node_status,
        "Roles": _roles,
        "Age": _age,
        "Version": _at("status", "nodeInfo", "kubeletVersion"),
        "Internal-IP+": _address("InternalIP"),
        "External-IP+": _address("ExternalIP"),
        "OS-Image+": _at("status", "nodeInfo", "osImage", empty="<unknown>"),
        "Kernel-Version+": _at("status", "nodeInfo", "kernelVersion", empty="<unknown>"),
        "Container-Runtime+": _at("status", "nodeInfo", "containerRuntimeVersion", empty="<unknown>"),
    },
    "Pod": {
        "Name": None,
        "Ready": _pod_ready,
        "Status": _pod_status,
        "Restarts": _restarts,
        "Age": _age,
        "IP+": _at("status", "podIP"),
        "Node+": _at("spec", "nodeName"),
    },
    "Namespace": {"Name": None, "Status": _at("status", "phase"), "Age": _age},
    "Deployment": {
        "Name": None,
        "Ready": _ready,
        "Up-to-date": _count("status", "updatedReplicas"),
        "Available": _count("status", "availableReplicas"),
        "Age": _age,
    },
    "DaemonSet": {
        "Name": None,
        "Desired": _count("status", "desiredNumberScheduled"),
        "Current": _count("status", "currentNumberScheduled"),
        "Ready": _count("status", "numberReady"),
        "Up-to-date": _count("status", "updatedNumberScheduled"),
        "Available": _count("status", "numberAvailable"),
        "Age": _age,
    },
    "Job": {"Name": None, "Status": _job_status, "Completions": _job_done, "Duration": _job_duration, "Age": _age},
    "Service": {
        "Name": None,
        "Type": _at("spec", "type"),
        "Cluster-IP": _at("spec", "clusterIP"),
        "Port(s)": _ports,
        "Age": _age,
    },
    "ConfigMap": {"Name": None, "Data": _size, "Age": _age},
    "Secret": {"Name": None, "Type": _at("type"), "Data": _size, "Age": _age},
    "CustomResourceDefinition": {"Name": None, "Created At": _at("metadata", "creationTimestamp")},
    "Event": {
        "Last Seen": lambda event: _since(event.get("lastTimestamp") or event["metadata"].get("creationTimestamp")),
        "Type": _at("type"),
        "Reason": _at("reason"),
        "Object": _about,
        "Message": _at("message", empty=""),
    },
}
