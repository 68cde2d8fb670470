"""The MIG manager of the GPU operator: the layout of a node by its label, and the resources that result from it."""

from __future__ import annotations

import collections

import yaml

from ...model import boards, mig_layout
from ...model.mig import NEWEST
from . import gpu
from .parts import amount, owned

CONFIG, STATE = "nvidia.com/mig.config", "nvidia.com/mig.config.state"
CAPABLE, DEPLOY = "nvidia.com/mig.capable", "nvidia.com/gpu.deploy.mig-manager"
BLOCK, NAME, CONTAINER = "migManager", "nvidia-mig-manager", "nvidia-mig-manager"
OFF, KEY, FILE = "all-disabled", "config.yaml", "default-mig-parted-config"
PREFIX, VOLUME = "nvidia.com/mig-", "mig-parted-config"
ENDED = ("Succeeded", "Failed")


def product(kind):
    """The names of the label nvidia.com/gpu.product of a kind of GPU."""
    return {row[2].replace(" ", "-") for row in kind.pci if row[2]}


def kind_of(hardware):
    """The kind of GPU of a node if it can be partitioned: whole GPUs alone, because a vGPU has its instance already."""
    if hardware.vgpu or not hardware.gpus:
        return None
    return next((kind for kind in boards.GPUS.values() if hardware.product in product(kind)), None)


def step(world, policy):
    """Deploy the manager on capable nodes; each one applies the configuration that its node's label names."""
    cluster, spec = world.cluster, policy["spec"]
    if not (spec.get(BLOCK) or {}).get("image") or not gpu.enabled(spec, BLOCK):
        gpu.drop(cluster, NAME, world.gpu_namespace)
        return
    config = ((spec[BLOCK].get("config") or {}).get("name")) or FILE
    capable = [one for one in cluster.list("nodes") if one["metadata"]["labels"].get(CAPABLE) == "true"]
    for node in capable:
        labels = {DEPLOY: "true"}
        if CONFIG not in node["metadata"]["labels"]:
            labels[CONFIG] = (spec[BLOCK].get("config") or {}).get("default") or OFF
        gpu.label(cluster, node, labels)
    volumes = [{"name": VOLUME, "configMap": {"name": config}}] if config != FILE else []
    made = gpu.daemon_set(world, policy, BLOCK, NAME, "mig-manager", CONTAINER, gpu.image(spec, BLOCK), volumes)
    names = [node["metadata"]["name"] for node in capable]
    for pod in owned(cluster, "pods", made):
        if pod["spec"].get("nodeName") in names and gpu.ready(pod):
            _manage(world, cluster.get("nodes", pod["spec"]["nodeName"]), pod)


def _manage(world, node, pod):
    """One step of the manager of a node, which applies a configuration at its start and when the label changes."""
    hardware, labels = world.hardware[node["metadata"]["name"]], node["metadata"]["labels"]
    wanted, mounted = labels.get(CONFIG), pod["spec"].get("volumes") or ()
    config = next((one["configMap"]["name"] for one in mounted if one["name"] == VOLUME), FILE)
    if hardware.mig_applied == (pod["metadata"]["uid"], wanted):
        return
    if labels.get(STATE) != "pending":
        gpu.label(world.cluster, node, {STATE: "pending"}, NAME)
        return
    hardware.mig_applied = (pod["metadata"]["uid"], wanted)
    try:
        layout = _layout(world, hardware, config, wanted)
        if layout != hardware.mig and _used(world, node):
            raise ValueError("In use by another client")
        hardware.mig = layout
    except (ValueError, LookupError, TypeError, AttributeError, yaml.YAMLError) as error:
        world.rejections.append(f"{NAME} {node['metadata']['name']}: {error}")
        gpu.label(world.cluster, node, {STATE: "failed"}, NAME)
        return
    gpu.label(world.cluster, node, {STATE: "success"}, NAME)


def _used(world, node):
    """Whether a pod of a user holds a GPU of the node. The manager stops only the components of the operator."""
    for pod in world.cluster.list("pods"):
        if pod["spec"].get("nodeName") != node["metadata"]["name"] or pod["status"].get("phase") in ENDED:
            continue
        for container in pod["spec"]["containers"]:
            limits = (container.get("resources") or {}).get("limits") or {}
            if any(amount(value) for key, value in limits.items() if key == gpu.RESOURCE or key.startswith(PREFIX)):
                return True
    return False


def _layout(world, hardware, config, wanted):
    """The profiles of each GPU: None if its MIG mode is off."""
    text = f"version: v1\nmig-configs: {{{OFF}: [{{devices: all, mig-enabled: false}}]}}\n"
    if config != FILE:
        text = world.cluster.get("configmaps", config, world.gpu_namespace)["data"][KEY]
    document = yaml.safe_load(text)
    if document.get("version") != "v1" or wanted not in document["mig-configs"]:
        raise ValueError(f"selected mig-config not present: {wanted}")
    kind, layout = kind_of(hardware), [None] * hardware.gpus
    for part in document["mig-configs"][wanted]:
        of = range(hardware.gpus) if part["devices"] == "all" else part["devices"]
        for number in of:
            layout[number] = _placed(kind, part.get("mig-devices") or {}) if part["mig-enabled"] else None
    return tuple(layout)


def _placed(kind, counts):
    """The names of the instances, if they fit on one GPU."""
    rows = {one.name: one for one in mig_layout.profiles(kind, NEWEST)}
    unknown = [name for name in counts if name not in rows]
    if unknown:
        raise ValueError(f"invalid MIG profile {unknown[0]}")
    requested = [rows[name] for name, count in counts.items() for _one in range(count)]
    if not _fits(kind, [], sorted(requested, key=lambda one: -one.size)):
        raise ValueError("Insufficient Resources")
    return tuple(sorted(one.name for one in requested))


def _fits(kind, taken, left):
    if not left:
        return True
    starts = mig_layout.free_starts(kind, taken, left[0], NEWEST)
    return any(_fits(kind, [*taken, (left[0], start)], left[1:]) for start in starts)


def resources(hardware, strategy):
    """({resource: number}, suffix of the product, number of GPUs in the label) that the device plugin offers."""
    layout = hardware.mig or (None,) * hardware.gpus
    instances = [name for one in layout for name in one or ()]
    plain = sum(one is None for one in layout)
    if strategy == "none" or plain == hardware.gpus:
        return {gpu.RESOURCE: hardware.gpus}, "", hardware.gpus
    if strategy == "mixed":
        counts = collections.Counter(PREFIX + name.replace("+", ".") for name in instances)
        return {gpu.RESOURCE: plain, **counts}, "", hardware.gpus
    if plain or len(set(instances)) != 1:
        return {gpu.RESOURCE: 0}, "-MIG-INVALID", 0
    return {gpu.RESOURCE: len(instances)}, f"-MIG-{instances[0].replace('+', '.')}", len(instances)
