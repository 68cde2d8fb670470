"""The scheduler and the kubelets: where pods run, and the states of their containers."""

from __future__ import annotations

import collections
import json

from .. import selectors
from ..cluster import now
from .parts import amount, condition, put_status, requests_of

_ENDED = ("Succeeded", "Failed")
NETWORKS = "k8s.v1.cni.cncf.io/networks"


def schedule(world):
    """Bind pods to nodes, or report the reasons of all nodes."""
    cluster = world.cluster
    nodes = cluster.list("nodes")
    for pod in cluster.list("pods"):
        spec = pod["spec"]
        if spec.get("nodeName") or spec.get("schedulingGates") or "deletionTimestamp" in pod["metadata"]:
            continue
        reasons, chosen = collections.Counter(), []
        claim = _lost_claim(cluster, pod)
        if claim:
            _unschedulable(cluster, pod, len(nodes), (), f'persistentvolumeclaim "{claim}" not found')
            continue
        for node in nodes:
            why = _obstacles(cluster, node, pod)
            reasons.update(why)
            if not why:
                chosen.append((len(_on(cluster, node)), node["metadata"]["name"]))
        if chosen:
            _bind(cluster, pod, min(chosen)[1])
        else:
            _unschedulable(cluster, pod, len(nodes), reasons)


def _bind(cluster, pod, name):
    pod = cluster.change("pods", pod, "kube-scheduler", spec={**pod["spec"], "nodeName": name})
    rows = condition(pod["status"].get("conditions"), "PodScheduled", "True")
    cluster.set_status("pods", pod, {**pod["status"], "conditions": rows}, "kube-scheduler")
    metadata = pod["metadata"]
    text = f"Successfully assigned {metadata['namespace']}/{metadata['name']} to {name}"
    cluster.event(pod, "Scheduled", text, source="default-scheduler")


def _claims(pod):
    """{volume: claim} of a pod."""
    volumes = pod["spec"].get("volumes") or ()
    return {one["name"]: one["persistentVolumeClaim"]["claimName"] for one in volumes if "persistentVolumeClaim" in one}


def _lost_claim(cluster, pod):
    namespace = pod["metadata"]["namespace"]
    return next(
        (one for one in _claims(pod).values() if cluster.get("persistentvolumeclaims", one, namespace) is None), ""
    )


def _unschedulable(cluster, pod, nodes, reasons, why=""):
    if why and nodes:
        text = f"0/{nodes} nodes are available: {why}."
    elif not nodes:
        text = "no nodes available to schedule pods"
    else:
        rows = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
        text = f"0/{nodes} nodes are available: {rows}."
    rows = condition(pod["status"].get("conditions"), "PodScheduled", "False", "Unschedulable", text)
    put_status(cluster, "pods", pod, {**pod["status"], "conditions": rows}, "kube-scheduler")
    cluster.event(pod, "FailedScheduling", text, "Warning", "default-scheduler")


def _on(cluster, node):
    """The pods that hold resources of a node."""
    name = node["metadata"]["name"]
    return [
        pod
        for pod in cluster.list("pods")
        if pod["spec"].get("nodeName") == name and pod["status"].get("phase") not in _ENDED
    ]


def _obstacles(cluster, node, pod):
    """Why a pod does not fit on a node, by the scheduler's filters in their order."""
    spec, labels = pod["spec"], node["metadata"].get("labels", {})
    if node["spec"].get("unschedulable"):
        return ["node(s) were unschedulable"]
    for taint in node["spec"].get("taints") or ():
        if taint["effect"] != "PreferNoSchedule" and not tolerated(taint, spec.get("tolerations") or ()):
            return [f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}"]
    if not _matches(spec, labels, node["metadata"]["name"]):
        return ["node(s) didn't match Pod's node affinity/selector"]
    if _kept_apart(cluster, node, pod):
        return ["node(s) didn't match pod anti-affinity rules"]
    allocatable = node["status"].get("allocatable", {})
    used = collections.Counter()
    for other in _on(cluster, node):
        used.update(requests_of(other["spec"]))
    wanted = requests_of(spec)
    return [
        f"Insufficient {name}"
        for name, value in sorted(wanted.items())
        if value and used[name] + value > amount(allocatable.get(name, 0))
    ]


def tolerated(taint, tolerations):
    """Whether one of the tolerations fits a taint."""
    for one in tolerations:
        same_effect = one.get("effect", taint["effect"]) in (taint["effect"], "")
        same_key = one.get("key", taint["key"]) == taint["key"]
        if one.get("operator", "Equal") == "Equal" and one.get("value", "") != taint.get("value", ""):
            continue
        if same_effect and same_key:
            return True
    return False


def _matches(spec, labels, name):
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    if not affinity:
        return True
    for term in affinity["nodeSelectorTerms"]:
        by_name = {"matchExpressions": term.get("matchFields") or ()}
        if selectors.of_object(term, labels) and selectors.of_object(by_name, {"metadata.name": name}):
            return True
    return False


def _kept_apart(cluster, node, pod):
    rules = ((pod["spec"].get("affinity") or {}).get("podAntiAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    ) or ()
    for rule in rules:
        for other in _on(cluster, node):
            same = other["metadata"]["namespace"] == pod["metadata"]["namespace"]
            if same and selectors.of_object(rule.get("labelSelector") or {}, other["metadata"].get("labels", {})):
                return True
    return False


def run(world):
    """One step of the kubelets: pull images, mount volumes, start containers, let them end."""
    cluster = world.cluster
    for pod in cluster.list("pods"):
        if not pod["spec"].get("nodeName"):
            continue
        if "deletionTimestamp" in pod["metadata"]:
            if not pod["metadata"].get("finalizers"):
                cluster.remove("pods", pod)
        elif pod["status"].get("phase") not in _ENDED and pod["spec"]["nodeName"] in world.hardware:
            _step(world, pod)  # a node that a client created has no kubelet
    world.pod_runtime.keep({pod["metadata"]["uid"] for pod in cluster.list("pods")})


def _step(world, pod):
    cluster = world.cluster
    if world.exceeds(pod, pod["spec"].get("activeDeadlineSeconds")):
        text = "Pod was active on the node longer than the specified deadline"
        cluster.event(pod, "DeadlineExceeded", text, source="kubelet")
        killed = {"terminated": {"exitCode": 137, "reason": "Error", "finishedAt": now()}}
        rows = [
            {**one, "state": killed, "ready": False, "started": False} if "running" in one["state"] else one
            for one in pod["status"].get("containerStatuses")
            or [_waiting(one, "ContainerCreating") for one in pod["spec"]["containers"]]
        ]
        _write(cluster, pod, "Failed", rows, reason="DeadlineExceeded", message=text)
        return
    obstacle = _sandbox(world, pod)
    if obstacle:
        reason, text = obstacle
        cluster.event(pod, reason, text, "Warning", "kubelet")
        _write(cluster, pod, "Pending", [_waiting(one, "ContainerCreating") for one in pod["spec"]["containers"]])
        return
    rows, phase = [], "Running"
    old = {one["name"]: one for one in pod["status"].get("containerStatuses", ())}
    for container in pod["spec"]["containers"]:
        row = _container(world, pod, container, old.get(container["name"]))
        rows.append(row)
    if any("waiting" in one["state"] and not one["restartCount"] for one in rows):
        phase = "Pending"
    ended = [one["state"]["terminated"]["exitCode"] for one in rows if "terminated" in one["state"]]
    if len(ended) == len(rows):
        phase = "Failed" if any(ended) else "Succeeded"
    _write(cluster, pod, phase, rows)


def _sandbox(world, pod):
    """Why the pod cannot start: volumes and networks that do not exist."""
    cluster, namespace = world.cluster, pod["metadata"]["namespace"]
    for volume in pod["spec"].get("volumes") or ():
        for key, plural, name in (("secret", "secrets", "secretName"), ("configMap", "configmaps", "name")):
            if key not in volume or volume[key].get("optional"):
                continue
            found = cluster.get(plural, volume[key][name], namespace)
            text = f'MountVolume.SetUp failed for volume "{volume["name"]}" : '
            if found is None:
                return "FailedMount", f'{text}{key.lower()} "{volume[key][name]}" not found'
            for item in volume[key].get("items") or ():
                if item["key"] not in (found.get("data") or {}):
                    return "FailedMount", f"{text}references non-existent {key.lower()} key: {item['key']}"
    files = world.hardware[pod["spec"]["nodeName"]].files
    for volume in pod["spec"].get("volumes") or ():
        path = volume.get("hostPath") or {}
        if path.get("type") == "Directory" and not any(one.startswith(f"{path['path']}/") for one in files):
            text = f'MountVolume.SetUp failed for volume "{volume["name"]}" : hostPath type check failed: '
            return "FailedMount", f"{text}{path['path']} is not a directory"
    for network in _networks(pod):
        where, _slash, name = network.rpartition("/")
        where = where or namespace
        served = cluster.serves("network-attachment-definitions")
        if served and cluster.get("network-attachment-definitions", name, where) is None:
            text = f"cannot find a network-attachment-definition ({name}) in namespace ({where})"
            return "FailedCreatePodSandBox", text
    return None


def _networks(pod):
    text = (pod["metadata"].get("annotations") or {}).get(NETWORKS, "")
    if text.startswith("["):
        return [f"{one.get('namespace', '')}/{one['name']}".lstrip("/") for one in json.loads(text)]
    return [one.strip().partition("@")[0] for one in text.split(",") if one.strip()]


def _container(world, pod, container, old):
    name, image = container["name"], container.get("image", "")
    if old and "terminated" in old["state"]:
        return old
    why = world.images.refusal(image, [one["name"] for one in pod["spec"].get("imagePullSecrets") or ()])
    if why and not (old and "running" in old["state"]):
        text = f'Failed to pull image "{image}": {why}'
        world.cluster.event(pod, "Failed", text, "Warning", "kubelet")
        reason = "ImagePullBackOff" if old and old["state"].get("waiting", {}).get("reason") == "ErrImagePull" else None
        if old and old["state"].get("waiting", {}).get("reason") == "ImagePullBackOff":
            reason = "ImagePullBackOff"
        said = f'Back-off pulling image "{image}": ErrImagePull: {why}' if reason else why
        return _waiting(container, reason or "ErrImagePull", said)
    if old is None:
        return _waiting(container, "ContainerCreating")
    code, log = world.outcome(pod, container)
    key = (pod["metadata"]["namespace"], pod["metadata"]["name"], name)
    world.cluster.logs[key] = log
    started = old["state"].get("running", {}).get("startedAt") or now()
    if code is None or "waiting" in old["state"] and not old["restartCount"]:
        return _status(container, {"running": {"startedAt": started}}, True, old["restartCount"])
    always = pod["spec"].get("restartPolicy", "Always") == "Always"
    if always or (code and pod["spec"].get("restartPolicy") == "OnFailure"):
        text = f"back-off 10s restarting failed container={name} pod={pod['metadata']['name']}"
        state = {"waiting": {"reason": "CrashLoopBackOff", "message": text}}
        row = _status(container, state, False, max(1, old["restartCount"]))
        ended = {"exitCode": code, "reason": "Error" if code else "Completed"}
        return {**row, "lastState": {"terminated": ended}}
    ended = {"exitCode": code, "reason": "Error" if code else "Completed", "startedAt": started, "finishedAt": now()}
    return _status(container, {"terminated": ended}, False, old["restartCount"])


def _waiting(container, reason, message=""):
    state = {"reason": reason, **({"message": message} if message else {})}
    return _status(container, {"waiting": state}, False, 0)


def _status(container, state, ready, restarts):
    row = {"name": container["name"], "image": container.get("image", ""), "imageID": "", "state": state}
    return {**row, "lastState": {}, "ready": ready, "restartCount": restarts, "started": ready}


def _write(cluster, pod, phase, rows, **more):
    ready = "True" if all(one["ready"] for one in rows) else "False"
    status = {**pod["status"], "phase": phase, "containerStatuses": rows, **more}
    status.setdefault("startTime", now())
    status.setdefault("podIP", cluster_address(cluster, pod))
    reason = "" if ready == "True" else "PodCompleted" if phase == "Succeeded" else "ContainersNotReady"
    for type_ in ("Initialized", "ContainersReady", "Ready"):
        value = "True" if type_ == "Initialized" else ready
        status["conditions"] = condition(status.get("conditions"), type_, value, "" if value == "True" else reason)
    put_status(cluster, "pods", pod, status, "kubelet")


def cluster_address(cluster, pod):
    """An address of the pod network, fixed by the pod's identity."""
    number = int(pod["metadata"]["uid"][:4], 16)
    return f"172.20.{number >> 8}.{number & 255}"
