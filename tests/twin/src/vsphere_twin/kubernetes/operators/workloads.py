"""The controllers of Kubernetes itself: garbage collection, namespaces, daemon sets, deployments, jobs, quotas."""

from __future__ import annotations

import copy
import re

from ..cluster import now
from ..refused import Refused
from .parts import amount, condition, owned, owner_of, put_status, requests_of
from .scheduling import tolerated

MANAGER = "kube-controller-manager"
_NAME = re.compile(r'pods "[^"]*"')


def collect(world):
    """Delete objects whose owners are gone, and end foreground deletions."""
    cluster = world.cluster
    uids = {obj["metadata"]["uid"] for objects in cluster.objects.values() for obj in objects.values()}
    for kind in {one.key: one for one in cluster.kinds.values() if one.version == one.storage}.values():
        for obj in list(cluster.objects[kind.key].values()):
            owners = obj["metadata"].get("ownerReferences") or ()
            if owners and not any(one["uid"] in uids for one in owners) and "deletionTimestamp" not in obj["metadata"]:
                cluster.deleted(kind, obj)
            elif "foregroundDeletion" in obj["metadata"].get("finalizers", ()):
                rows = cluster.dependents(obj)
                for other, dependent in rows:
                    if "deletionTimestamp" not in dependent["metadata"]:
                        cluster.deleted(other, dependent, "Foreground")
                if not rows:
                    metadata = copy.deepcopy(obj["metadata"])
                    metadata["finalizers"].remove("foregroundDeletion")
                    cluster.replaced(kind, {**copy.deepcopy(obj), "metadata": metadata}, obj, MANAGER)


def end_namespaces(world):
    """Delete the content of namespaces that are being deleted, then the namespaces."""
    cluster = world.cluster
    for namespace in cluster.list("namespaces"):
        if "deletionTimestamp" not in namespace["metadata"]:
            continue
        name, left = namespace["metadata"]["name"], 0
        for kind in {one.key: one for one in cluster.kinds.values() if one.version == one.storage}.values():
            for (where, _name), obj in list(cluster.objects[kind.key].items()):
                if kind.namespaced and where == name:
                    left += 1
                    cluster.deleted(kind, obj)
        if not left:
            cluster.remove("namespaces", namespace)


def _pod_of(owner, name, template, **more):
    metadata = copy.deepcopy(template.get("metadata") or {})
    key = "generateName" if name.endswith("-") else "name"
    metadata.update({key: name, "ownerReferences": owner_of(owner)})
    if "annotations" in more:
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **more.pop("annotations")}
    metadata["labels"] = {**(metadata.get("labels") or {}), **more.pop("labels", {})}
    return {"metadata": metadata, "spec": {**copy.deepcopy(template.get("spec") or {}), **more}}


def _unnamed(event):
    return _NAME.sub("", event.get("message", ""))


def add_pod(cluster, owner, name, template, **more):
    """Create a pod from a template; a rejection becomes an event of the owner. Returns the pod or None."""
    try:
        return cluster.create("pods", _pod_of(owner, name, template, **more), owner["metadata"]["namespace"], MANAGER)
    except Refused as error:
        text = f"Error creating: {error.message}"
        # The next attempt has another name, and its event counts as the same.
        for old in cluster.list("events", owner["metadata"]["namespace"]):
            if old["involvedObject"].get("uid") == owner["metadata"]["uid"] and _unnamed(old) == _NAME.sub("", text):
                cluster.repeated(old)
                return None
        cluster.event(owner, "FailedCreate", text, "Warning", f"{owner['kind'].lower()}-controller")
        return None


def daemon_sets(world):
    """A pod on each node that a daemon set selects."""
    cluster = world.cluster
    for one in cluster.list("daemonsets"):
        template, pods = one["spec"]["template"], owned(cluster, "pods", one)
        selector = template["spec"].get("nodeSelector") or {}
        tolerations = template["spec"].get("tolerations") or ()
        wanted = {
            node["metadata"]["name"]
            for node in cluster.list("nodes")
            if all(node["metadata"].get("labels", {}).get(key) == value for key, value in selector.items())
            and all(tolerated(taint, tolerations) for taint in node["spec"].get("taints") or ())
        }
        stale = one["metadata"]["generation"]
        placed = set()
        for pod in pods:
            where, generation = pod["spec"].get("nodeName"), pod["metadata"]["labels"].get("pod-template-generation")
            if where not in wanted or generation != str(stale):
                cluster.deleted(cluster.kind("pods"), pod)
            else:
                placed.add(where)
        for name in sorted(wanted - placed):
            labels = {"pod-template-generation": str(stale)}
            add_pod(cluster, one, f"{one['metadata']['name']}-", template, nodeName=name, labels=labels)
        pods = owned(cluster, "pods", one)
        ready = sum(_is_ready(pod) for pod in pods)
        status = {"currentNumberScheduled": len(pods), "desiredNumberScheduled": len(wanted), "numberReady": ready}
        status.update(numberAvailable=ready, numberMisscheduled=0, updatedNumberScheduled=len(pods))
        status["observedGeneration"] = stale
        put_status(cluster, "daemonsets", one, status, MANAGER)


def deployments(world):
    """The pods of deployments; replica sets are not modelled."""
    cluster = world.cluster
    for one in cluster.list("deployments"):
        pods, wanted = owned(cluster, "pods", one), one["spec"]["replicas"]
        for pod in pods[wanted:]:
            cluster.deleted(cluster.kind("pods"), pod)
        for _missing in range(wanted - len(pods)):
            if add_pod(cluster, one, f"{one['metadata']['name']}-", one["spec"]["template"]) is None:
                break
        pods = owned(cluster, "pods", one)
        ready = sum(_is_ready(pod) for pod in pods)
        status = {
            "replicas": len(pods),
            "updatedReplicas": len(pods),
            "observedGeneration": one["metadata"]["generation"],
        }
        if ready:
            status.update(readyReplicas=ready, availableReplicas=ready)
        if ready < wanted:
            status["unavailableReplicas"] = wanted - ready
        rows = one.get("status", {}).get("conditions")
        value, reason = ("True", "Available") if ready == wanted else ("False", "Unavailable")
        status["conditions"] = condition(rows, "Available", value, f"MinimumReplicas{reason}")
        put_status(cluster, "deployments", one, status, MANAGER)


def _is_ready(pod):
    rows = pod["status"].get("conditions") or ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in rows)


def jobs(world):
    """The pods of jobs, their retries and their end."""
    cluster = world.cluster
    for job in cluster.list("jobs"):
        if "deletionTimestamp" in job["metadata"]:
            continue
        if not any(one["type"] in ("Complete", "Failed") for one in job.get("status", {}).get("conditions") or ()):
            _job(world, job)


def _job(world, job):
    cluster, spec, name = world.cluster, job["spec"], job["metadata"]["name"]
    pods = owned(cluster, "pods", job)
    status = copy.deepcopy(job.get("status") or {})
    if spec.get("suspend"):
        for pod in pods:
            cluster.deleted(cluster.kind("pods"), pod)
        status["conditions"] = condition(status.get("conditions"), "Suspended", "True", "JobSuspended", "Job suspended")
        status.update(active=0, ready=0)
        put_status(cluster, "jobs", job, status, MANAGER)
        return
    if world.exceeds(job, spec.get("activeDeadlineSeconds")):
        for pod in pods:
            if pod["status"].get("phase") not in ("Succeeded", "Failed"):
                cluster.deleted(cluster.kind("pods"), pod)
        text = "Job was active longer than specified deadline"
        status["conditions"] = condition(status.get("conditions"), "Failed", "True", "DeadlineExceeded", text)
        status.update(active=0, ready=0)
        cluster.event(job, "DeadlineExceeded", text, "Warning", "job-controller")
        put_status(cluster, "jobs", job, status, MANAGER)
        return
    phases = [pod["status"].get("phase") for pod in pods]
    succeeded, failed = phases.count("Succeeded"), phases.count("Failed")
    active = len(phases) - succeeded - failed
    over = failed > spec["backoffLimit"]
    labels = {"job-name": name, "batch.kubernetes.io/job-name": name}
    done = {pod["metadata"]["labels"].get("batch.kubernetes.io/job-completion-index") for pod in pods}
    for number in range(0 if over else min(spec["parallelism"], spec["completions"] - succeeded) - active):
        more, prefix, own = dict(labels), f"{name}-", {}
        if spec["completionMode"] == "Indexed":
            index = next(str(one) for one in range(spec["completions"] + number + 1) if str(one) not in done)
            done.add(index)
            more["batch.kubernetes.io/job-completion-index"], prefix = index, f"{name}-{index}-"
            own = {"hostname": f"{name}-{index}", "annotations": {"batch.kubernetes.io/job-completion-index": index}}
        if add_pod(cluster, job, prefix, spec["template"], labels=more, **own) is None:
            break
        active += 1
    status.setdefault("startTime", now())
    ready = sum(_is_ready(pod) for pod in pods)
    status.update(active=active, ready=ready, succeeded=succeeded, failed=failed)
    if succeeded >= spec["completions"]:
        status["completionTime"] = now()
        status["conditions"] = condition(status.get("conditions"), "Complete", "True", "CompletionsReached")
    elif over:
        text = "Job has reached the specified backoff limit"
        status["conditions"] = condition(status.get("conditions"), "Failed", "True", "BackoffLimitExceeded", text)
        cluster.event(job, "BackoffLimitExceeded", text, "Warning", "job-controller")
    put_status(cluster, "jobs", job, status, MANAGER)


def admit_quota(cluster, kind, new, old):
    """Reject a pod that a ResourceQuota of its namespace does not allow."""
    if kind.key != ("", "pods") or old is not None:
        return
    namespace = new["metadata"]["namespace"]
    for quota in cluster.list("resourcequotas", namespace):
        used, wanted = _used(cluster, namespace), _counted(new)
        hard = quota["spec"].get("hard") or {}
        over = [name for name in sorted(hard) if used.get(name, 0) + wanted.get(name, 0) > amount(hard[name])]
        over = [name for name in over if wanted.get(name)]
        if over:
            texts = []
            for word, values in (("requested", wanted), ("used", used)):
                texts.append(f"{word}: " + ",".join(f"{name}={values.get(name, 0):g}" for name in over))
            texts.append("limited: " + ",".join(f"{name}={hard[name]}" for name in over))
            text = f"exceeded quota: {quota['metadata']['name']}, {', '.join(texts)}"
            raise Refused(403, f'pods "{new["metadata"]["name"]}" is forbidden: {text}')


def _counted(pod):
    found = {f"requests.{name}": value for name, value in requests_of(pod["spec"]).items()}
    return {**found, "pods": 1}


def _used(cluster, namespace):
    found = {}
    for pod in cluster.list("pods", namespace):
        if pod["status"].get("phase") not in ("Succeeded", "Failed"):
            for name, value in _counted(pod).items():
                found[name] = found.get(name, 0) + value
    return found


def quotas(world):
    """The used amounts of quotas."""
    cluster = world.cluster
    for quota in cluster.list("resourcequotas"):
        hard = quota["spec"].get("hard") or {}
        used = _used(cluster, quota["metadata"]["namespace"])
        status = {"hard": hard, "used": {name: f"{used.get(name, 0):g}" for name in hard}}
        put_status(cluster, "resourcequotas", quota, status, MANAGER)
