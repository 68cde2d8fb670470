# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Objects that the stage kubernetes applies to a cluster, and reasons why it must not. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.plain_text import shown
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import refusals
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import (
    charts,
    gpu_operator,
    job,
    mig,
    network_operator,
    node_jobs,
    nodes,
    openshift,
    schema,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import checks as pods_of_checks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Objects = Sequence[Mapping[str, Any]]

PRIVILEGED = {"pod-security.kubernetes.io/enforce": "privileged"}


def plan(requested: Mapping[str, Any], seen: Mapping[str, Objects], token: str = "") -> dict[str, Any]:
    """Objects, releases and problems.

    seen has definitions, namespaces, nodes and policies, and installing, which is true before Helm installed releases.
    On OpenShift, it has features, which are the NodeFeatureDiscovery objects.
    objects are in the order of their application. networks has the objects that exist only after the Network Operator
    applied its policy. permissions has the objects that allow the pods of checks and trainings what they need on
    OpenShift. training has the objects of the job. releases are those of Helm. later names those of permissions and of
    the job that check mode cannot compute, because their namespace does not exist yet. unserved names those of
    networks whose definition the Network Operator has not created yet. uninstalled names the releases whose
    definitions the cluster does not have yet. missing has the names of namespaces that the role creates. The secret of
    the licence is not among the objects, because they are shown.
    """
    operator = requested["gpu_operator"]
    on_openshift = nodes.is_openshift(seen["nodes"])
    licence = gpu_operator.licence_name(token) if operator["licensed"] else ""
    made = [gpu_operator.policy(operator, licence, on_openshift)]
    network = requested.get("network_operator") or {}
    problems = [*charts.problems(operator, network, on_openshift), *_operator(requested, seen, token)]
    problems += _nodes(requested, seen["nodes"])
    problems += gpu_operator.toolkit_problems(made[0], seen["nodes"])
    problems += openshift.problems(seen) if on_openshift else ()
    partitions, unplanned = mig.objects(operator, nodes.chosen(seen["nodes"], requested["nodes"]))
    # Only the operator labels the product of a GPU.
    absent = _is_pending(operator, seen) and not schema.served(
        seen["definitions"], gpu_operator.GROUP, gpu_operator.KIND
    )
    problems += () if absent else unplanned
    networks = network_operator.networks(network, requested["nodes"]) if network else []
    if network:
        made.append(network_operator.policy(network, on_openshift))
        problems += network_operator.problems(network, seen, requested["nodes"], _is_pending(network, seen))
    wanted = requested.get("training") or {}
    if wanted and on_openshift:
        wanted = {**wanted, "service_account": openshift.ACCOUNT}
    checks = requested.get("checks") or {}
    pods = checks or wanted  # both are in the same namespace
    allowed = pods_of_checks.CAPABILITIES if checks else pods_of_checks.CAPABILITIES[:1]
    of_node = pods_of_checks.of_node(checks)
    permissions = openshift.objects(pods["namespace"], allowed, of_node) if pods and on_openshift else []
    training = job.objects(wanted, seen["definitions"]) if wanted else []
    problems += _operator_of_job(wanted, seen["definitions"]) if wanted else []
    account = openshift.ACCOUNT if on_openshift else ""
    of_nodes = node_jobs.objects(requested, seen["definitions"], account) if checks and wanted else []
    for one in [*made, *networks, *permissions, *training, *of_nodes]:
        problems += _unfit(one, seen["definitions"])
    namespaces = [_namespace(one["namespace"]) for one in (wanted, checks) if one][:1]  # both use the same one
    if not on_openshift:  # its own controller sets the label
        namespaces.insert(0, _namespace(operator["namespace"]))
        namespaces += [_namespace(network["namespace"])] if network else []
    known = _names(seen["namespaces"])
    later = [one["metadata"]["name"] for one in [*permissions, *training] if _is_homeless(one, known)]
    unserved = [] if network_operator.is_served(seen["definitions"]) else _names(networks)
    return {
        "objects": [*namespaces, *partitions[:1], *made, *partitions[1:]],
        "networks": networks,
        "permissions": permissions,
        "training": training,
        "later": later,
        "missing": [one["metadata"]["name"] for one in namespaces if one["metadata"]["name"] not in known],
        "unserved": unserved,
        "openshift": on_openshift,
        "releases": charts.releases(operator, network, made[0]),
        "uninstalled": [*_uninstalled(operator, network, seen)],
        "problems": problems,
    }


def _is_homeless(one: Mapping[str, Any], known: Sequence[str]) -> bool:
    """Whether the namespace of an object does not exist yet."""
    return "namespace" in one["metadata"] and one["metadata"]["namespace"] not in known


def _is_pending(operator: Mapping[str, Any], seen: Mapping[str, Any]) -> bool:
    """Whether Helm still has to install this operator."""
    return bool(seen.get("installing")) and charts.is_requested(operator)


def _uninstalled(operator: Mapping[str, Any], network: Mapping[str, Any], seen: Mapping[str, Any]) -> Iterator[str]:
    for one, group, kind, name in (
        (operator, gpu_operator.GROUP, gpu_operator.KIND, charts.GPU_OPERATOR),
        (network, network_operator.GROUP, network_operator.POLICY, charts.NETWORK_OPERATOR),
    ):
        if _is_pending(one, seen) and not schema.served(seen["definitions"], group, kind):
            yield name


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": dict(PRIVILEGED)}}


def _operator_of_job(requested: Mapping[str, Any], definitions: Objects) -> Iterator[str]:
    group, version, kind = job.kind_of(requested)
    if version not in schema.served(definitions, group, kind):
        yield (
            f"Cannot run the training as a {kind}. The cluster does not serve {kind} of {group}/{version}. Install the "
            f"{job.OPERATORS[kind]}, or remove site.kubernetes.training."
        )
    elif not job.takes_annotations(requested, definitions):
        for part, what, key in (
            ("network", "attach the pods of the training to the RDMA networks", "network_operator"),
            ("topology", "name the topology of the pods of the training", "training.topology"),
        ):
            if requested.get(part):
                yield (
                    f"Cannot {what}. Kubeflow Trainer 2.0 has no field for the annotations of pods. Install Kubeflow "
                    f"Trainer 2.1 or newer, or remove site.kubernetes.{key}."
                )


def _operator(requested: Mapping[str, Any], seen: Mapping[str, Objects], token: str) -> Iterator[str]:
    operator = requested["gpu_operator"]
    served = schema.served(seen["definitions"], gpu_operator.GROUP, gpu_operator.KIND)
    pending = _is_pending(operator, seen)
    if gpu_operator.VERSION not in served and not pending:
        yield (
            "Cannot configure the GPU Operator. The cluster does not serve ClusterPolicy of nvidia.com/v1. Install the "
            "operator with its Helm chart or from OperatorHub, or set site.kubernetes.gpu_operator.chart, see "
            "docs/kubernetes.md."
        )
        return
    if operator["namespace"] not in _names(seen["namespaces"]) and not pending:
        yield (
            f"Cannot configure the GPU Operator in the namespace {operator['namespace']}. The cluster has no such "
            "namespace. Set site.kubernetes.gpu_operator.namespace to the namespace of the operator."
        )
    others = [name for name in _names(seen["policies"]) if name != operator["policy"]]
    if others:
        yield (
            f"Cannot use the ClusterPolicy {operator['policy']}. The cluster has the ClusterPolicy {others[0]}, and "
            f"the operator ignores a second one. Set site.kubernetes.gpu_operator.policy to {others[0]}."
        )
    if operator["licensed"] and not token:
        yield (
            "Cannot license the vGPUs of the nodes. There is no client configuration token. Set site_licence_token in "
            "a vault, or site.guests.licence.token_file."
        )


def _nodes(requested: Mapping[str, Any], found: Objects) -> Iterator[str]:
    chosen = nodes.chosen(found, requested["nodes"])
    if requested["nodes"] and not chosen:
        labels = ", ".join(f"{key}={value}" for key, value in requested["nodes"].items())
        yield (
            f"Cannot find the GPU nodes of the cluster. No node has the labels {labels}. Label the nodes, or correct "
            "site.kubernetes.nodes."
        )
    driver = requested["gpu_operator"].get("driver") or {}
    for one in chosen:
        # The nodes read the driver of their host from the vGPU. Before the operator runs, only the site knows it.
        host = nodes.labels(one).get(nodes.HOST_DRIVER) or requested["host_driver"]
        name = shown(one["metadata"]["name"])
        try:
            refusals.refuse_pair(f"node {name}", "cannot install the driver", host, driver.get("version"))
        except OperatorError as error:
            yield f"{error.message} The key is site.kubernetes.gpu_operator.driver.version."


def _unfit(made: Mapping[str, Any], definitions: Objects) -> Iterator[str]:
    """Fields that the API server would silently drop, or reject."""
    group, dummy, version = made["apiVersion"].rpartition("/")
    found = schema.served(definitions, group, made["kind"]).get(version)
    for problem in schema.problems(found, made) if found else ():
        yield (
            f"Cannot apply the {made['kind']} {made['metadata']['name']}. In the CRD that the cluster serves, "
            f"{problem}. Correct site.kubernetes, or install an operator of another version."
        )


def _names(objects: Objects) -> list[str]:
    return [shown(one["metadata"]["name"]) for one in objects]
