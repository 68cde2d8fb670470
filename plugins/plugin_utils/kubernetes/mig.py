# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""MIG layout of whole GPUs on nodes: the configuration of the MIG manager, checked by the planner of mig_partition."""

from __future__ import annotations

import collections
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core.plain_text import shown
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import identify, layout_text, planner
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Rules
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.gpu import MigGpu

    Objects = Sequence[Mapping[str, Any]]

KEY = "config.yaml"
CONFIG, STATE = "nvidia.com/mig.config", "nvidia.com/mig.config.state"
# States of the MIG manager that end by themselves.
WORKING = ("pending", "rebooting")
SUCCESS = "success"
PREFIX = "aiready-"
# The planned layout of a node. Its label names only the kind of GPU, because a running manager fails on a new label.
LAYOUT = "aiready.vsphere/mig-layout"


def objects(operator: Mapping[str, Any], found: Objects) -> tuple[list[dict[str, Any]], list[str]]:
    """(the ConfigMap and the labels of the nodes, problems); found are the GPU nodes."""
    layout = operator.get("mig_layout") or []
    configs, labelled, problems = {}, [], []
    for one in found if layout else ():
        name, product = one["metadata"]["name"], nodes.labels(one).get(nodes.PRODUCT) or ""
        gpu = _gpu(product)
        if gpu is None:
            problems.append(
                f"Cannot plan the MIG layout of node {shown(name)}. Its label {nodes.PRODUCT} is "
                f"{shown(product) or 'not set'}, which has no MIG profiles in this collection. Remove "
                "site.stack.mig, or set site.kubernetes.nodes to labels of nodes with such GPUs."
            )
            continue
        counts, problem = _planned(gpu, layout, operator.get("mig_strategy") or "single")
        if problem:
            problems.append(f"Cannot plan the MIG layout of node {shown(name)}. {problem}")
            continue
        config = f"{PREFIX}{gpu.key.replace('_', '-')}"
        configs[config] = [{"devices": "all", "mig-enabled": True, "mig-devices": counts}]
        metadata = {"name": name, "labels": {CONFIG: config}, "annotations": {LAYOUT: _text(counts)}}
        labelled.append({"apiVersion": "v1", "kind": "Node", "metadata": metadata})
    if not layout or problems:
        return [], problems
    # The operator labels other nodes with all-disabled, and the manager reads it from this file too.
    configs["all-disabled"] = [{"devices": "all", "mig-enabled": False}]
    text = json.dumps({"version": "v1", "mig-configs": configs}, indent=2, sort_keys=True)
    file = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": config_map(layout), "namespace": operator["namespace"]},
        "data": {KEY: text},
    }
    return [file, *labelled], problems


def config_map(layout: Sequence[str]) -> str:
    """The name of the ConfigMap of a layout.

    A running MIG manager does not apply a changed ConfigMap (mig-parted issue 108), so each layout has its own. The
    operator then replaces the pods of the manager.
    """
    return f"aiready-mig-config-{hashlib.sha256(json.dumps(sorted(layout)).encode()).hexdigest()[:10]}"


def _gpu(product: str) -> MigGpu | None:
    """The GPU of a node label: a product name with - for each space, and its profile while MIG is active."""
    plain = re.sub(r"-MIG-.*", "", product).replace("-", " ")
    for gpu in GPUS.values():
        names = (row[2] for row in gpu.pci if row[2] is not None)
        if any(identify.plain_name(name.replace("-", " ")) == identify.plain_name(plain) for name in names):
            return gpu
    return None


def _planned(gpu: MigGpu, layout: Sequence[str], strategy: str) -> tuple[dict[str, int], str]:
    """({profile: number}, the reason if no placement exists)."""
    rules = Rules(gpu)
    requests, problems = layout_text.resolve(gpu, layout, default_compute=True)
    if problems:
        return {}, f"{problems[0]}. Correct site.stack.mig.layout."
    if planner.plan(rules, {}, requests) is None:
        return {}, f"{', '.join(layout)} do not fit on one GPU. Correct site.stack.mig.layout."
    counts = collections.Counter(rules.profiles[one.profile_id].name for one in requests)
    if strategy == "single" and len(counts) > 1:
        return {}, (
            f"The strategy single needs instances of one profile, and the layout has {', '.join(sorted(counts))}. Set "
            "site.kubernetes.gpu_operator.mig_strategy to mixed."
        )
    return dict(counts), ""


def _text(counts: Mapping[str, int]) -> str:
    """One text for all notations of a layout, such as 1g and 1g.5gb."""
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))


def settled(found: Any, operator: Mapping[str, Any], selector: Mapping[str, str], before: Any = ()) -> bool:
    """Whether no MIG manager still works; found are all nodes of the cluster.

    before are the nodes before this run changed their layout, or none if it did not. A failure of that time does not
    count: the manager has not begun yet.
    """
    if not operator.get("mig_layout"):
        return True
    chosen = nodes.chosen(found or [], selector)
    old = {_name(one): one for one in before or ()}
    return all(_has_ended(one, old.get(_name(one)), operator) for one in chosen)


def _has_ended(node: Mapping[str, Any], old: Mapping[str, Any] | None, operator: Mapping[str, Any]) -> bool:
    """Whether the manager ended on a node that was the old one before."""
    state, new = nodes.labels(node).get(STATE), old is None or _reported(node) != _reported(old)
    if state != SUCCESS:
        return new and state not in (None, *WORKING)
    if not _is_offered(node, operator):
        return False
    # 7 instances also match one instance of their profile, so after another layout of ours something must be new. A
    # manager whose layout was there already writes nothing, so the layout of others is not compared, nor the same one.
    ours = old is not None and str(nodes.labels(old).get(CONFIG)).startswith(PREFIX)
    if old is None or not ours or not _is_offered(old, operator) or _is_planned(old, operator):
        return True
    return new or nodes.instances(node) != nodes.instances(old)


def _name(node: Mapping[str, Any]) -> str:
    return str(node["metadata"]["name"])


def _reported(node: Mapping[str, Any]) -> tuple[str | None, tuple[str, ...]]:
    """The state of the manager, and when it was written: a manager that fails again writes the same state."""
    entries = node["metadata"].get("managedFields") or ()
    times = (str(one.get("time")) for one in entries if f'"f:{STATE}"' in json.dumps(one.get("fieldsV1")))
    return nodes.labels(node).get(STATE), tuple(times)


def _is_offered(node: Mapping[str, Any], operator: Mapping[str, Any]) -> bool:
    """Whether the node offers the layout. Until a manager begins, its state is that of the layout before.

    The number of GPUs is not known: with the strategy single, 7 instances also match one instance of this profile.
    """
    planned = _counts(node, operator)
    if not planned or operator.get("mig_strategy") == "none":
        # A feature discovery that stops may remove its labels (removeOutputFile). It starts again after the manager.
        return bool(nodes.labels(node).get(nodes.PRODUCT))
    counts = {name.replace("+", "."): number for name, number in planned.items()}
    found = nodes.instances(node)
    gpus = found.get(next(iter(counts)), 0) // next(iter(counts.values()))
    return gpus > 0 and found == {name: number * gpus for name, number in counts.items()}


def _is_planned(node: Mapping[str, Any], operator: Mapping[str, Any]) -> bool:
    """Whether an earlier run gave the node this layout, perhaps in another notation."""
    annotations = node["metadata"].get("annotations") or {}
    return annotations.get(LAYOUT) == _text(_counts(node, operator))


def _counts(node: Mapping[str, Any], operator: Mapping[str, Any]) -> dict[str, int]:
    """{profile: number} of the layout on the GPUs of the node; empty if it cannot be planned."""
    gpu = _gpu(nodes.labels(node).get(nodes.PRODUCT) or "")
    return _planned(gpu, operator["mig_layout"], operator.get("mig_strategy") or "single")[0] if gpu else {}


def faults(chosen: Objects, operator: Mapping[str, Any]) -> Iterator[str]:
    """Nodes whose MIG manager did not apply the layout."""
    if not operator.get("mig_layout"):
        return
    for one in chosen:
        config, state = nodes.labels(one).get(CONFIG), nodes.labels(one).get(STATE)
        if not str(config).startswith(PREFIX):
            yield (
                f"Node {shown(one['metadata']['name'])} does not have the MIG layout of the site. Its label {CONFIG} "
                f"is {shown(str(config)) if config else 'not set'}. Run the playbook again."
            )
        elif state != SUCCESS:
            reported = f"{STATE} is {shown(state)}" if state else f"it has no label {STATE}"
            yield (
                f"The MIG manager did not apply the layout on node {shown(one['metadata']['name'])}: {reported}. Read "
                "the log of its pod nvidia-mig-manager. GPUs that a pod uses keep their mode, and an Ampere GPU in a "
                "VM needs a restart of the node. Then delete the pod nvidia-mig-manager, because only a new one tries "
                "again."
            )
        elif not _is_offered(one, operator):
            found = nodes.instances(one)
            offers = ", ".join(f"{number} {shown(name)}" for name, number in sorted(found.items())) or "no instances"
            yield (
                f"Node {shown(one['metadata']['name'])} does not offer the MIG layout of the site. Its MIG manager "
                f"reports {SUCCESS}, and its resources are {offers}. Read the logs of its pods nvidia-mig-manager, "
                "nvidia-device-plugin-daemonset and gpu-feature-discovery, and delete these pods to start them again."
            )
