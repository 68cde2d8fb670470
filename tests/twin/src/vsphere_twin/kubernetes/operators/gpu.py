"""The GPU operator: node features, driver, device plugin, and the resources and labels that result from them."""

from __future__ import annotations

import copy

from . import mig
from .parts import condition, ensured, owned, owner_of, put_status

MANAGER = "gpu-operator"
RESOURCE = "nvidia.com/gpu"
PCI = ("feature.node.kubernetes.io/pci-10de.present", "feature.node.kubernetes.io/pci-15b3.present")
TAINT = {"key": RESOURCE, "operator": "Exists", "effect": "NoSchedule"}
DRIVER, ENGINE = "nvidia-driver-daemonset", "nvidia-dcgm"
# (block of ClusterPolicy, daemon set, label nvidia.com/gpu.deploy.*, container), in their order.
OPERANDS = (
    ("driver", DRIVER, "driver", "nvidia-driver-ctr"),
    ("toolkit", "nvidia-container-toolkit-daemonset", "container-toolkit", "nvidia-container-toolkit-ctr"),
    ("devicePlugin", "nvidia-device-plugin-daemonset", "device-plugin", "nvidia-device-plugin"),
    ("gfd", "gpu-feature-discovery", "gpu-feature-discovery", "gpu-feature-discovery"),
    ("dcgm", ENGINE, "dcgm", "nvidia-dcgm-ctr"),
    ("dcgmExporter", "nvidia-dcgm-exporter", "dcgm-exporter", "nvidia-dcgm-exporter"),
    ("validator", "nvidia-operator-validator", "operator-validator", "nvidia-operator-validator"),
)
_STATES = {
    "validator": "state-operator-validation",
    "toolkit": "state-container-toolkit",
    "devicePlugin": "state-device-plugin",
}
_STATES.update(
    driver="state-driver", gfd="gpu-feature-discovery", dcgmExporter="state-dcgm-exporter", dcgm="state-dcgm"
)


def discover(world):
    """Node feature discovery: label the nodes whose taints it tolerates by their PCI vendors."""
    cluster = world.cluster
    if not world.feature_discovery:
        return
    for node in cluster.list("nodes"):
        hardware = world.hardware.get(node["metadata"]["name"])
        tainted = [one for one in node["spec"].get("taints") or () if one["key"] not in (RESOURCE,)]
        if hardware is None or tainted:
            continue
        system, _dot, version = hardware.system.partition("ubuntu")[2].partition(".")
        found = {
            "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
            "feature.node.kubernetes.io/system-os_release.VERSION_ID": f"{system}.{version}",
            "feature.node.kubernetes.io/kernel-version.full": "5.15.0-130-generic",
        }
        found.update({PCI[0]: "true"} if hardware.gpus else {})
        found.update({PCI[1]: "true"} if hardware.adapters else {})
        found.update({} if hardware.total_vfs else {"feature.node.kubernetes.io/cpu-cpuid.HYPERVISOR": "true"})
        label(cluster, node, found, "nfd-master")


def label(cluster, node, labels, manager=MANAGER):
    """Set labels of a node where they differ."""
    node = cluster.get("nodes", node["metadata"]["name"])
    present = node["metadata"].get("labels", {})
    if any(present.get(key) != value for key, value in labels.items()):
        cluster.labelled("nodes", node, labels, manager)


def step(world):
    """Reconcile the first ClusterPolicy; further ones are ignored."""
    cluster = world.cluster
    if not cluster.serves("clusterpolicies"):
        return
    order = sorted(cluster.list("clusterpolicies"), key=world.first_seen)
    for late in order[1:]:
        put_status(cluster, "clusterpolicies", late, {"state": "ignored", "namespace": world.gpu_namespace}, MANAGER)
    if order:
        _reconcile(world, order[0])
    else:
        _withdraw(world)


def _withdraw(world):
    cluster = world.cluster
    for node in cluster.list("nodes"):
        _resource(cluster, node, RESOURCE, None)


def _reconcile(world, policy):
    cluster, spec = world.cluster, policy["spec"]
    nodes = cluster.list("nodes")
    labelled = [
        node for node in nodes if any(key.startswith("feature.node") for key in node["metadata"].get("labels", {}))
    ]
    gpus = [node for node in nodes if node["metadata"].get("labels", {}).get(PCI[0]) == "true"]
    if not gpus:
        reason = "NoGPUNodes" if labelled else "NFDLabelsMissing"
        text = "No GPU node found, watching for new nodes to join the cluster." if labelled else "No NFD labels found"
        _write(world, policy, "ready", reason, text)
        return
    try:
        images = {block: image(spec, block) for block, *_rest in OPERANDS if enabled(spec, block)}
    except ValueError as error:
        _write(world, policy, "notReady", "ReconcileFailed", str(error))
        return
    ensured(cluster, "namespaces", {"metadata": {"name": world.gpu_namespace}})
    for node in gpus:
        if node["metadata"]["labels"].get("nvidia.com/gpu.deploy.operands") == "false":
            continue
        labels = {"nvidia.com/gpu.present": "true"}
        labels.update({f"nvidia.com/gpu.deploy.{part}": "true" for _block, _name, part, _container in OPERANDS})
        label(cluster, node, labels)
    waiting = []
    for block, name, part, container in OPERANDS:
        if block not in images:
            drop(cluster, name, world.gpu_namespace)
            continue
        made = daemon_set(world, policy, block, name, part, container, images[block])
        status = made.get("status") or {}
        desired = status.get("desiredNumberScheduled", 0)
        if not desired or status.get("numberReady", 0) < desired:
            waiting.append(_STATES[block])
    mig.step(world, policy)
    for node in gpus:
        _node(world, policy, cluster.get("nodes", node["metadata"]["name"]))
    if waiting:
        text = f"ClusterPolicy is not ready; states not ready: [{' '.join(waiting)}]"
        _write(world, policy, "notReady", "OperandNotReady", text)
    else:
        _write(
            world,
            policy,
            "ready",
            "Reconciled",
            "ClusterPolicy is ready as all resources have been successfully reconciled",
        )


def enabled(spec, block):
    return (spec.get(block) or {}).get("enabled", True)


def image(spec, block):
    """The image of an operand; a ClusterPolicy has no defaults for it."""
    one = spec.get(block) or {}
    if block == "validator" and not one.get("image"):
        one = {"repository": "nvcr.io/nvidia", "image": "gpu-operator", "version": "v26.7.0"}
    missing = [key for key in ("repository", "image", "version") if not one.get(key)]
    if missing:
        raise ValueError(f"failed to get image path for {block}: empty {missing[0]} in ClusterPolicy")
    joint = "@" if one["version"].startswith("sha256:") else ":"
    return f"{one['repository']}/{one['image']}{joint}{one['version']}"


def daemon_set(world, policy, block, name, part, container, path, volumes=()):
    """The DaemonSet of a component on the nodes with its label."""
    cluster, namespace = world.cluster, world.gpu_namespace
    spec, labels = policy["spec"], {"app": name}
    pod = {"name": container, "image": path, "env": copy.deepcopy((spec.get(block) or {}).get("env") or [])}
    volumes = list(volumes)
    if block == "driver":
        system = next(iter(world.hardware.values())).system
        pod["image"] = f"{path}-{system}"
        secret = (spec["driver"].get("licensingConfig") or {}).get("secretName")
        if secret:
            items = [{"key": key, "path": key} for key in ("gridd.conf", "client_configuration_token.tok")]
            volumes = [{"name": "licensing-config", "secret": {"secretName": secret, "items": items}}]
    secrets = [{"name": one} for one in (spec.get(block) or {}).get("imagePullSecrets") or ()]
    tolerations = (spec.get("daemonsets") or {}).get("tolerations") or [TAINT]
    template = {
        "metadata": {"labels": labels},
        "spec": {
            "containers": [pod],
            "nodeSelector": {f"nvidia.com/gpu.deploy.{part}": "true"},
            "tolerations": tolerations,
            "volumes": volumes,
            "imagePullSecrets": secrets,
            "serviceAccountName": name,
        },
    }
    body = {"metadata": {"name": name, "namespace": namespace, "labels": labels, "ownerReferences": owner_of(policy)}}
    body["spec"] = {"selector": {"matchLabels": labels}, "template": template}
    made = ensured(cluster, "daemonsets", body, namespace, MANAGER)
    fresh = (pod["image"], volumes, tolerations, secrets)
    if world.rendered.get(name) not in (None, fresh):
        made = cluster.change("daemonsets", made, MANAGER, spec={**made["spec"], "template": template})
    world.rendered[name] = fresh
    return made


def drop(cluster, name, namespace):
    """Delete the DaemonSet of a component."""
    found = cluster.get("daemonsets", name, namespace)
    if found:
        cluster.deleted(cluster.kind("daemonsets"), found)


def _node(world, policy, node):
    """The resources and labels of a node whose driver and device plugin run."""
    cluster, name = world.cluster, node["metadata"]["name"]
    hardware = world.hardware[name]
    running = {
        one["metadata"]["name"]: any(
            pod["spec"].get("nodeName") == name and ready(pod) for pod in owned(cluster, "pods", one)
        )
        for one in owned(cluster, "daemonsets", policy) + cluster.list("daemonsets", world.gpu_namespace)
    }
    driver = running.get(DRIVER, False) if enabled(policy["spec"], "driver") else world.driver_works(hardware, None)
    strategy = (policy["spec"].get("mig") or {}).get("strategy") or "single"
    offered, suffix, count = mig.resources(hardware, strategy)
    # The kubelet keeps a resource that no plugin offers any more, with 0.
    known = [key for key in node["status"].get("capacity", {}) if key == RESOURCE or key.startswith(mig.PREFIX)]
    plugged = driver and running.get("nvidia-device-plugin-daemonset")
    for key, value in {**dict.fromkeys(known, 0), **(offered if plugged else {})}.items():
        _resource(cluster, node, key, value)
    if driver and running.get("gpu-feature-discovery"):
        major = world.driver_branch(policy["spec"]) or hardware.host_branch
        labels = {
            "nvidia.com/gpu.product": hardware.product + suffix,
            "nvidia.com/gpu.count": str(count),
            "nvidia.com/gpu.memory": str(hardware.memory_mib),
            "nvidia.com/gpu.replicas": "1",
            "nvidia.com/mig.capable": "true" if mig.kind_of(hardware) else "false",
            "nvidia.com/cuda.driver-version.major": major,
        }
        if hardware.vgpu:
            labels["nvidia.com/vgpu.present"] = "true"
            labels["nvidia.com/vgpu.host-driver-branch"] = hardware.host_branch
        label(cluster, node, labels, "gpu-feature-discovery")


def ready(pod):
    """Whether a pod is ready."""
    rows = pod["status"].get("conditions") or ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in rows)


def _resource(cluster, node, name, count):
    set_resource(cluster, node["metadata"]["name"], name, count)


def set_resource(cluster, node, name, count):
    """Set the capacity of a node for an extended resource; None removes it."""
    obj = cluster.get("nodes", node)
    status = copy.deepcopy(obj["status"])
    for part in ("capacity", "allocatable"):
        status.setdefault(part, {})
        if count is None:
            status[part].pop(name, None)
        else:
            status[part][name] = str(count)
    put_status(cluster, "nodes", obj, status, "kubelet")


def _write(world, policy, state, reason, text):
    cluster = world.cluster
    ready = state == "ready"
    old = policy.get("status", {}).get("conditions")
    rows = condition(old, "Ready", "True" if ready else "False", reason, text if ready else "")
    rows = condition(rows, "Error", "False" if ready else "True", "Ready" if ready else reason, "" if ready else text)
    status = {"state": state, "namespace": world.gpu_namespace, "conditions": rows}
    put_status(cluster, "clusterpolicies", cluster.get("clusterpolicies", policy["metadata"]["name"]), status, MANAGER)
