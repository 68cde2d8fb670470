"""Conversion between served versions where fields differ; all other kinds only change apiVersion."""

from __future__ import annotations


def convert(key, obj, version):
    """The object in another version of its kind; `key` is (group, plural)."""
    group = key[0]
    wanted = f"{group}/{version}" if group else version
    if obj.get("apiVersion") == wanted:
        return obj
    old = obj.get("apiVersion", "").rpartition("/")[2]
    result = {**obj, "apiVersion": wanted}
    change = _CHANGES.get((key, old, version))
    return change(result) if change else result


def _cluster_up(obj):
    topology = obj.get("spec", {}).get("topology")
    if not topology or "class" not in topology:
        return obj
    topology = dict(topology)
    reference = {"name": topology.pop("class")}
    if topology.get("classNamespace"):
        reference["namespace"] = topology.pop("classNamespace")
    topology["classRef"] = reference
    return {**obj, "spec": {**obj["spec"], "topology": topology}}


def _cluster_down(obj):
    topology = obj.get("spec", {}).get("topology")
    result = dict(obj)
    if topology and "classRef" in topology:
        topology = dict(topology)
        reference = topology.pop("classRef")
        topology["class"] = reference["name"]
        if "namespace" in reference:
            topology["classNamespace"] = reference["namespace"]
        result["spec"] = {**obj["spec"], "topology": topology}
    status = obj.get("status")
    if status:
        # v1beta1 has no status of workers, and its conditions have no observedGeneration.
        names = ("conditions", "phase", "observedGeneration", "infrastructureReady", "controlPlaneReady")
        result["status"] = {name: status[name] for name in names if name in status}
    return result


def _renamed(old, new):
    def change(obj):
        spec = dict(obj.get("spec", {}))
        if old in spec:
            spec[new] = spec.pop(old)
        return {**obj, "spec": spec}

    return change


_CLUSTERS, _QUEUES = ("cluster.x-k8s.io", "clusters"), ("kueue.x-k8s.io", "clusterqueues")
_CHANGES = {
    (_CLUSTERS, "v1beta1", "v1beta2"): _cluster_up,
    (_CLUSTERS, "v1beta2", "v1beta1"): _cluster_down,
    (_QUEUES, "v1beta1", "v1beta2"): _renamed("cohort", "cohortName"),
    (_QUEUES, "v1beta2", "v1beta1"): _renamed("cohortName", "cohort"),
}
