# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Jobs across nodes that measure NCCL, OSU programs and trainings, in their order. Pure.

They are rendered like the job of the training. Commands, numbers of nodes and transports are those of guests.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import expected, suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import guests_of
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import checks, job, nodes, openshift
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.recorded import END, RUN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Objects = Sequence[Mapping[str, Any]]
    Made = dict[str, Any]

JOB, PREFIX, SCRIPTS = "job", "aiready-check", "aiready-check-trainings"
LABELS = {"MPIJob": "training.kubeflow.org/job-name", "TrainJob": "jobset.sigs.k8s.io/jobset-name"}
OF_LAUNCHER = "training.kubeflow.org/job-role=launcher"
NCCL, TRAINING, ALLREDUCE = "cluster.nccl", "cluster.training", "cluster.mpi_allreduce"
TCP, RDMA = "tcp", "rdma"
# The place of each rank, which no launcher reports.
RANK = "### rank "
PLACED = f'echo "{RANK}$OMPI_COMM_WORLD_RANK $(hostname)"; exec "$@"'
# The first worker of a host file has rank 0. The second order measures the other direction.
ORDERS = ("sort", "sort -r")
HOSTS = "/etc/mpi/hostfile"


def planned(requested: Mapping[str, Any], seen: Mapping[str, Objects]) -> list[Made]:
    """The jobs in their order; empty if the site does not request them.

    seen has nodes and definitions. Each job has its checks, variant, guests (the nodes), objects, and for the role its
    apiVersion, kind, name and namespace, the selectors of its pods and of those with output, and its limit.
    """
    if not requested["checks"].get("jobs"):
        return []
    found = nodes.chosen(seen["nodes"], requested["nodes"])
    hosts = {str(one["metadata"]["name"]): str(nodes.labels(one).get(job.HOSTNAME) or "") for one in found}
    account = openshift.ACCOUNT if nodes.is_openshift(seen["nodes"]) else ""
    return [_made(requested, one, hosts, account, seen["definitions"]) for one in _wanted(requested, list(hosts))]


def objects(requested: Mapping[str, Any], definitions: Objects, account: str) -> list[Made]:
    """The objects of all jobs for two nodes, which show early whether the cluster accepts them."""
    if not requested["checks"].get("jobs"):
        return []
    hosts = {"node-1": "node-1", "node-2": "node-2"}
    made = [_made(requested, one, hosts, account, definitions) for one in _wanted(requested, list(hosts))]
    return [one for each in made for one in each["objects"]]


def _wanted(requested: Mapping[str, Any], names: Sequence[str]) -> Iterator[Made]:
    """{checks, variant, guests} of each job. One job measures a pair in both directions."""
    intent = expected.intent_of(checks.intent_of(requested, names))
    rows = [row for row in expected.rows(intent) if not row["skip"]]
    of_pairs = [row for row in rows if row["check"] in suite.PROGRAMS and row["check"] != ALLREDUCE]
    for pair in dict.fromkeys(tuple(sorted(guests_of(row["subject"]))) for row in of_pairs):
        yield {"checks": list(dict.fromkeys(row["check"] for row in of_pairs)), "variant": "", "guests": list(pair)}
    for row in rows:
        if row["check"] in (ALLREDUCE, NCCL, TRAINING):
            yield {"checks": [row["check"]], "variant": row["variant"], "guests": guests_of(row["subject"])}


def request_of(requested: Mapping[str, Any], one: Mapping[str, Any]) -> Made:
    """The request of the job, in the format of the training in pods."""
    training, wanted, check = requested["training"], requested["checks"]["jobs"], one["checks"][0]
    made = {**training, "run": " ".join([*one["checks"], one["variant"], *one["guests"]]), "nodes": len(one["guests"])}
    made.update(labels={checks.LABEL: JOB}, prefix=PREFIX, scripts=SCRIPTS, kept=True, builtin="", command=[])
    made["start_s"] = requested["checks"]["limit_s"]
    # The check chooses the nodes.
    made["topology"] = {}
    if check in suite.PROGRAMS:
        # MPI alone, over the adapter of the data path. A program that hangs must not block the others.
        made.update(gpus=0, slots=1 if check != ALLREDUCE else training["slots"])
        made.update(
            limit_s=requested["checks"]["limit_s"], interface=job.DATA if training["network"] else job.INTERFACE
        )
        made["launcher"] = ["/bin/sh", "-c", _programs(made, one["checks"], wanted["osu"])]
        return made
    made["transport"] = RDMA if one["variant"].endswith(RDMA) else TCP
    if check == TRAINING:
        made.update(builtin="synthetic", arguments=wanted["arguments"])
    elif training["engine"] == "horovod":
        made.update(command=wanted["nccl_command"], arguments=[])
    else:
        device = "auto" if "gpu" in requested["checks"]["simulated"] else "cuda"
        made.update(builtin="all_reduce", arguments=["--device", device, *wanted["nccl_command"][1:]])
    return made


def _programs(request: Mapping[str, Any], names: Sequence[str], osu: Mapping[str, Sequence[str]]) -> str:
    """The script of the launcher: each program, between two workers in both directions."""
    lines, pair, limit = [], _is_pair(names), program_s(request["limit_s"], names)
    for order, sort in enumerate(ORDERS if pair else ORDERS[:1]):
        lines.append(f"{sort} {HOSTS} > /tmp/aiready-hosts-{order}")
        for name in names:
            call = job.mpirun(request, "--hostfile", f"/tmp/aiready-hosts-{order}")
            call += ["sh", "-c", PLACED, "sh", *osu[suite.PROGRAMS[name]]]
            lines += [f"echo '{RUN}{name} {order}'", f"timeout {limit} {shlex.join(call)} 2>&1", f'echo "{END}$?"']
    return "\n".join(lines)


def _is_pair(names: Sequence[str]) -> bool:
    return ALLREDUCE not in names


def program_s(limit_s: int, names: Sequence[str]) -> int:
    """The limit of one program. One that hangs must not take the time of the others."""
    return max(int(limit_s) // (len(names) * (len(ORDERS) if _is_pair(names) else 1)), 1)


def _made(
    requested: Mapping[str, Any], one: Made, hosts: Mapping[str, str], account: str, definitions: Objects
) -> Made:
    request = request_of(requested, one)
    request.update(hosts=[hosts[name] or name for name in one["guests"]], service_account=account)
    made = job.objects(request, definitions)
    kind, name = made[-1]["kind"], made[-1]["metadata"]["name"]
    pods = [f"{LABELS[kind]}={name}"]
    shown = " ".join(filter(None, [", ".join(one["checks"]), one["variant"]]))
    return {
        **one,
        "check": one["checks"][0],
        "title": f"{shown} on {', '.join(one['guests'])}",
        "objects": made,
        "apiVersion": made[-1]["apiVersion"],
        "kind": kind,
        "name": name,
        "namespace": request["namespace"],
        "pods": pods,
        "output": [*pods, *([OF_LAUNCHER] if kind == "MPIJob" else [])],
        "limit_s": request["limit_s"],
    }


def started(pods: Objects, one: Mapping[str, Any]) -> str:
    """The state of the pods of a job: waits, runs, or stuck if one of them ended with a failure or has no image."""
    if any(checks.ended([pod]) and (pod.get("status") or {}).get("phase") != "Succeeded" for pod in pods):
        return "stuck"
    ready = [pod for pod in pods if (pod.get("status") or {}).get("phase") in ("Running", "Succeeded")]
    return "runs" if len(ready) == len(pods) >= len(one["guests"]) else "waits"
