# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Inputs of the role kubernetes from a site, without the prefix of their names, and the checks of this section."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import refusals
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import suite
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import pod_checks, pod_network, stack, vks
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.guests import given, of_stage, part_of
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import identities
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.training import slots

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SHARED_GPU = ("vgpu", "mig")
NAME, LABEL = vks.SUBDOMAIN, vks.LABEL
# A key of a label, with an optional prefix.
LEVEL = re.compile(rf"({NAME.pattern}/)?[A-Za-z0-9]([A-Za-z0-9._-]{{0,61}}[A-Za-z0-9])?")
RELEASE = re.compile(r"v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")
ENGINES = ("torchrun", "horovod")
OF_VGPU = ("repository", "image", "version")


def kubernetes(site: Any) -> dict[str, Any]:
    """The inputs; without a kubeconfig and a cluster to create, the site has no such section."""
    site, requested = of_stage(site, "kubernetes")
    operator = requested["gpu_operator"]
    shared = site["gpu"]["mode"] in SHARED_GPU
    guests, host = part_of(site, "guests"), site["driver"] or {}
    pods = requested["training"] and _pods(site, requested)
    return {
        "kubeconfig": requested["kubeconfig"] or "",
        "cluster": vks.cluster(site, requested) if vks.is_vks(requested) and requested["vks"] else {},
        "context": requested["context"] or "",
        "nodes": requested["nodes"],
        "registry_secret": _registry_secret(site, requested),
        "force": requested["force"],
        "wait_s": requested["wait_s"],
        "gpus": site["gpu"]["per_vm"],
        "gpu_operator": {
            **given(operator),
            "driver": given(operator["driver"]),
            "mig_layout": (site["stack"]["mig"] or {}).get("layout") or [],
            "gds": stack.stack(site)["gds"],
            "dcgm": stack.stack(site)["dcgm_health"] and suite.is_timed(requested["checks"]),
            "licensed": bool(shared and operator["driver"] and site["licence"] == "nvaie"),
        },
        "network_operator": pod_network.pod_network(site) if requested["network_operator"] else {},
        "training": pods or {},
        "checks": pod_checks.pod_checks(site, requested) if requested["checks"] else {},
        "host_driver": (host.get("version") or "") if shared else "",
        "token_file": (guests["licence"] or {}).get("token_file") or "",
    }


def _registry_secret(site: Mapping[str, Any], requested: Mapping[str, Any]) -> dict[str, Any]:
    """Name and registries of the secret that the role creates for pods; empty if the site requests none."""
    if not requested["pull_secret"] or not (requested["training"] or requested["checks"]):
        return {}
    logins = [one for one in part_of(site, "runtime")["registries"] if one["username"]]
    registries = [{key: one[key] for key in ("address", "username")} for one in logins]
    return {"name": requested["pull_secret"], "registries": registries}


def _pods(site: Mapping[str, Any], requested: Mapping[str, Any]) -> dict[str, Any]:
    """The training of the site, with pods in place of the containers on the guests."""
    training, own = site["training"], requested["training"]
    gpus = 0 if training["gpus"] == "none" else site["gpu"]["per_vm"]
    keys = ("image", "engine", "builtin", "arguments", "environment", "shm_size")
    return {
        **{key: training[key] for key in keys},
        **{key: own[key] for key in ("namespace", "runtime", "run")},
        "pull_secrets": pod_checks.pull_secrets(requested, own),
        "command": training["command"] or [],
        "queue": own["queue"] or "",
        "topology": own["topology"] or {},
        "nodes": own["nodes"] or sum(len(identities(entry)) for entry in site["vms"]),
        "nodes_with": requested["nodes"],
        "slots": slots(training, gpus),
        "gpus": gpus,
        "limit_s": training["limits"]["wall_s"],
        "network": pod_network.pod_network(site) if requested["network_operator"] else {},
    }


def problems(site: Mapping[str, Any]) -> Iterator[str]:
    """Conflicts between the settings of the cluster and the other sections of a validated site."""
    requested = site["kubernetes"]
    if not requested:
        return
    yield from vks.problems(site, requested)
    operator, key = requested["gpu_operator"], "site.kubernetes.gpu_operator"
    for name, form, signs in (("namespace", LABEL, "digits and -"), ("policy", NAME, "digits, - and .")):
        if not form.fullmatch(operator[name]):
            yield (
                f"{key}.{name}: {operator[name]} is not a valid name in Kubernetes. Use lower-case letters, {signs}, "
                "and begin and end with a letter or a digit."
            )
    if requested["wait_s"] < 1:
        yield f"site.kubernetes.wait_s: {requested['wait_s']} is not a valid time. Use at least 1 second."
    if requested["training"]:
        yield from _training(site, requested["training"])
    yield from _pull_secret(site, requested)
    yield from pod_checks.problems(site)
    if operator["driver"]:
        yield from _driver(site, operator["driver"], f"{key}.driver")
    yield from pod_network.problems(site)
    for part in ("gpu_operator", "network_operator"):
        yield from _chart((requested[part] or {}).get("chart") or {}, f"site.kubernetes.{part}.chart")


def _pull_secret(site: Mapping[str, Any], requested: Mapping[str, Any]) -> Iterator[str]:
    key, name = "site.kubernetes.pull_secret", requested["pull_secret"]
    if not name:
        return
    if not (requested["training"] or requested["checks"]):
        yield f"{key}: no pod uses the secret {name}. Add site.kubernetes.training or checks, or remove {key}."
    if not NAME.fullmatch(name):
        yield f"{key}: {name} is not a valid name in Kubernetes. Use lower-case letters, digits, - and ."
    if not any(one["username"] for one in part_of(site, "runtime")["registries"]):
        yield (
            f"{key}: site.runtime.registries has no registry with a username, so the secret {name} would have no "
            f"login. Add the registry, or remove {key}."
        )


def _training(site: Mapping[str, Any], requested: Mapping[str, Any]) -> Iterator[str]:
    key, training = "site.kubernetes.training", site["training"]
    if not training:
        yield f"{key}: the site has no training. Add site.training with image and command, or remove {key}."
        return
    if training["engine"] not in ENGINES:
        yield (
            f"site.training.engine: it is {training['engine']}, and {key} runs only {' and '.join(ENGINES)} in pods. "
            f"Set one of them, or remove {key}."
        )
    for name in ("mounts", "elastic", "restarts"):
        if training[name]:
            yield f"site.training.{name}: {key} does not support it in pods. Remove it, or remove {key}."
    if training["gpus"] == "auto" and site["kubernetes"]["gpu_operator"]["mig_strategy"] == "mixed":
        yield (
            "site.kubernetes.gpu_operator.mig_strategy: with mixed, the GPUs have one resource for each profile, and "
            "the training requests nvidia.com/gpu. Set it to single."
        )
    topology = requested["topology"]
    if topology and not requested["queue"]:
        yield f"{key}.topology: only Kueue reads it, and {key}.queue is not set. Set queue, or remove topology."
    if topology and not LEVEL.fullmatch(topology["level"]):
        yield (
            f"{key}.topology.level: {topology['level'] or 'an empty text'} is not a label of nodes. Use the nodeLabel "
            "of a level of the Topology, such as kubernetes.io/hostname."
        )
    if requested["nodes"] is not None and requested["nodes"] < 1:
        yield f"{key}.nodes: {requested['nodes']} is not a valid number of nodes. Use at least 1."
    if not LABEL.fullmatch(requested["namespace"]):
        yield (
            f"{key}.namespace: {requested['namespace']} is not a valid name in Kubernetes. Use lower-case letters, "
            "digits and -."
        )


def _chart(chart: Mapping[str, Any], key: str) -> Iterator[str]:
    """A chart that Helm installs. Without an exact version, another day would install another operator."""
    if not chart.get("install"):
        return
    ref = chart["ref"]
    is_file, is_oci = ref.startswith("/"), ref.startswith("oci://")
    if bool(chart["repository"]) == (is_file or is_oci):
        found = f"the ref {ref} needs no repository. Remove it, or set ref to the name of a chart."
        if not chart["repository"]:
            found = (
                f"it is not set, and the ref {ref} is no absolute path or oci:// reference. Name the Helm repository."
            )
        yield f"{key}.repository: {found}"
    if not is_file and not RELEASE.fullmatch(chart["version"] or ""):
        yield (
            f"{key}.version: {chart['version'] or 'an empty text'} is not an exact version. Name one release of the "
            "chart, such as v25.10.1."
        )


def _driver(site: Mapping[str, Any], driver: Mapping[str, Any], key: str) -> Iterator[str]:
    if site["gpu"]["mode"] not in SHARED_GPU:
        return
    missing = [name for name in OF_VGPU if not driver[name]]
    if missing:
        yield (
            f"{key}: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set, and the image of the "
            f"chart does not support a vGPU (site.gpu.mode is {site['gpu']['mode']}). Name an image with the vGPU "
            "guest driver."
        )
    host = (site["driver"] or {}).get("version")
    try:
        refusals.refuse_pair(f"{key}.version", f"cannot use {driver['version']}", host, driver["version"])
    except OperatorError as error:
        yield f"{key}.version: {error.found}. {error.todo}."
