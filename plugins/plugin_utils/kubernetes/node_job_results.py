# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Output of jobs across nodes in the format of training_run, which the check suite reads. Pure.

The pods decide which node has a rank, not the plan: a webhook or a queue can move them.
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core import evidence
from ansible_collections.aiready.vsphere.plugins.module_utils.training import result
from ansible_collections.aiready.vsphere.plugins.module_utils.training.progress import Progress
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs.outcome import NOT_FOUND
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import node_jobs, nodes, state
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.causes import short
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.recorded import Recording
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.unread import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Made = dict[str, Any]

INDEX = "batch.kubernetes.io/job-completion-index"
PLACED = re.compile(rf"(?m)^{node_jobs.RANK}(\d{{1,6}}) (\S{{1,253}})$")
FOLDER, LIMIT = "jobs", "site.kubernetes.checks.limit_s"
TIMED_OUT = 124  # of timeout


def results(requested: Mapping[str, Any], done: Sequence[Mapping[str, Any]], folder: str) -> dict[str, Any]:
    """{runs, files}: the option runs of validation_result, and {path below the folder: text} of the logs.

    done has for each job its plan (job), jobs, pods, events, logs as {pod: text}, unread as {pod: failed result},
    answer (the result of the read of the pods), and refused (sentences about objects that the API server refused).
    """
    runs: list[Made] = []
    files: dict[str, str] = {}
    for one in done:
        for check, names, ran, text in _of_job(requested, one):
            run: Made = {"check": check, "variant": one["job"]["variant"], "guests": names, "run": ran}
            if "training" in ran:
                file = f"{FOLDER}/{evidence.place(check, run['variant'], *names).rpartition('/')[2]}"
                files[file] = text
                ran["training"]["after"]["result"]["log"] = f"{folder}/{file}"
            runs.append(run)
    return {"runs": runs, "files": files}


def _of_job(requested: Mapping[str, Any], one: Mapping[str, Any]) -> Iterator[tuple[str, list[str], Made, str]]:
    """(check, nodes, result, log) of each measurement of a job."""
    plan = one["job"]
    request = node_jobs.request_of(requested, plan)
    if _is_left(one):  # with the output of an earlier check
        one = {**one, "logs": {}}
    why = _trouble(requested, request, one)
    text = _log(one)
    first = plan["checks"][0]
    if first not in suite.PROGRAMS:
        yield first, plan["guests"], _answer(plan, _training(request, plan, one, why)), text
        return
    placed, recorded = _places(one), Recording(text).commands
    for check in plan["checks"]:
        pair = check.startswith("pair.")
        for names in (plan["guests"], plan["guests"][::-1]) if pair else (plan["guests"],):
            output = _output(recorded, check, names, placed, pair)
            if output is None:
                said = why or (
                    f"The log of the job {plan['name']} does not show the program with rank 0 on {names[0]}. Check "
                    "that the image contains mpirun, sshd, sort and hostname."
                )
                yield check, names, {"failed": True, "msg": said}, ""
                continue
            text, status, ranks = output
            program = requested["checks"]["jobs"]["osu"][suite.PROGRAMS[check]][0]
            if status == NOT_FOUND:
                said = f"The program {program} is missing in the image {request['image']}. Name another image."
                yield check, names, {"failed": True, "msg": said}, ""
                continue
            failed = f"{program} ended with status {status}." if status else ""
            if status == TIMED_OUT:
                limit = node_jobs.program_s(request["limit_s"], plan["checks"])
                failed = f"{program} exceeded its limit of {limit} s. Check the network, or raise {LIMIT}."
            elif not pair:
                # Nothing in the output of a program without a direction shows that the ranks were elsewhere.
                failed = failed or why
            yield check, names, _answer(plan, {"ranks": ranks, "verdict": _verdict(failed)}), text


def _answer(plan: Mapping[str, Any], found: Mapping[str, Any]) -> Made:
    """A result in the format of training_run."""
    container = plan["objects"][-1]["spec"]
    launcher = (container.get("mpiReplicaSpecs") or {}).get("Launcher")
    trainer = launcher["template"]["spec"]["containers"][0] if launcher else container["trainer"]
    launches = [{"host": plan["name"], "argv": list(trainer["command"])}]
    made = {"run": plan["name"], "image": {"name": trainer["image"]}, **found}
    return {"training": {"after": {"result": made, "launches": launches}}}


def _verdict(why: str) -> Made:
    return {"state": "failed" if why else "passed", "code": "", "reason": why}


def _trouble(requested: Mapping[str, Any], request: Mapping[str, Any], one: Mapping[str, Any]) -> str:
    """Why a job did not succeed, or did not measure what it was to measure."""
    plan = one["job"]
    if one["refused"]:
        return " ".join(one["refused"])
    if _is_left(one):
        return (
            f"The job {plan['name']} of an earlier check is being deleted and does not end. Check the nodes of its "
            f"pods, and read them with: kubectl --namespace {plan['namespace']} get pods --output wide"
        )
    tcp = request.get("transport") == node_jobs.TCP
    asked = {**requested, "training": {**request, "network": {} if tcp else request["network"]}}
    found = state.failures(asked, {**one, "log": _log(one)})
    unread = [sentence(problem, f"the log of the pod {pod}") for pod, problem in one["unread"].items()]
    if found:
        return " ".join([*found, *_late(requested, plan, one), *unread])
    if not one["pods"]:
        if "resources" not in one["answer"]:
            return sentence(one["answer"], f"the pods of the job {plan['name']}")
        return f"The job {plan['name']} has no pods any more. Check who deletes them, and run the playbook again."
    used = sorted({str(pod["spec"].get("nodeName") or "none") for pod in _of_ranks(one)})
    if used != sorted(plan["guests"]):
        return (
            f"The pods of the job {plan['name']} ran on {', '.join(map(short, used)) or 'no node'} instead of "
            f"{', '.join(plan['guests'])}. Check webhooks and queues of the cluster, which may change their affinity."
        )
    return " ".join(unread)


def _is_left(one: Mapping[str, Any]) -> bool:
    return any(job["metadata"].get("deletionTimestamp") for job in one["jobs"])


def _late(requested: Mapping[str, Any], plan: Mapping[str, Any], one: Mapping[str, Any]) -> Iterator[str]:
    """The limit that a job reached, and the option that raises it."""
    at = node_jobs.started(one["pods"], plan)
    if not state.exceeded(one["jobs"]) or at == "stuck":
        return
    if at == "waits":
        yield f"Its pods did not run within {requested['checks']['limit_s']} s. If they start slowly, raise {LIMIT}."
        return
    own = plan["checks"][0] in suite.PROGRAMS
    yield f"It did not end within {plan['limit_s']} s. Raise {LIMIT if own else 'site.training.limits.wall_s'}."


def _of_ranks(one: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The pods with ranks: all except the launcher."""
    return [pod for pod in one["pods"] if nodes.labels(pod).get("training.kubeflow.org/job-role") != "launcher"]


def _places(one: Mapping[str, Any]) -> dict[str, str]:
    """{name of a pod, and its host name: its node}. The host name of a pod of a TrainJob is shorter than its name."""
    return {
        str(name): str(pod["spec"].get("nodeName") or "")
        for pod in one["pods"]
        for name in (pod["metadata"]["name"], pod["spec"].get("hostname"))
        if name
    }


def _log(one: Mapping[str, Any]) -> str:
    """The logs of all pods with output, that of the first rank first."""
    order = {str(pod["metadata"]["name"]): _index(pod) for pod in one["pods"]}
    return "\n".join(str(one["logs"][name] or "") for name in sorted(one["logs"], key=lambda name: order.get(name, 0)))


def _index(pod: Mapping[str, Any]) -> int:
    found = str(nodes.labels(pod).get(INDEX) or (pod["metadata"].get("annotations") or {}).get(INDEX) or "0")
    return int(found) if found.isdecimal() else 0


def _output(
    recorded: Mapping[str, tuple[str, int]], check: str, names: Sequence[str], placed: Mapping[str, str], pair: bool
) -> tuple[str, int, list[Made]] | None:
    """(output, status, ranks) of a program; of a pair, with rank 0 on the first of the nodes."""
    for order in range(len(node_jobs.ORDERS)):
        text, status = recorded.get(f"{check} {order}", ("", -1))
        found = {int(rank): placed.get(host.partition(".")[0], "") for rank, host in PLACED.findall(text)}
        # If a program is missing, mpirun may end before the second rank prints.
        if status >= 0 and (not pair or (found.get(0), found.get(1, names[1])) == tuple(names)):
            return text, status, [{"rank": rank, "host": host} for rank, host in sorted(found.items())]
    return None


def _training(request: Mapping[str, Any], plan: Mapping[str, Any], one: Mapping[str, Any], why: str) -> Made:
    """The figures of the ranks of a built-in training, or of nccl-tests."""
    hosts = [name for name in plan["guests"] for _slot in range(request["slots"])]
    seen = Progress(hosts)
    for name, text in one["logs"].items():
        seen.feed(name, 0, str(text or ""))
    seen.end()
    places = _places(one)
    ranks = [
        {
            "rank": rank,
            "host": places.get(str(reported.get("host") or "").partition(".")[0], ""),
            "engine": reported.get("engine"),
            "framework": reported.get("framework"),
            "device": reported.get("device_name") or reported.get("device"),
        }
        for rank, reported in sorted(seen.ranks.items())
    ]
    if not why and request["builtin"] == "synthetic":
        # Of the request, only these are read.
        asked = SimpleNamespace(builtin="synthetic", hosts=plan["guests"], data_path=node_jobs.TCP, gpus="none")
        why = " ".join(f"{text}." for _code, text in result.shortcomings(cast("Any", asked), seen))
    return {
        "ranks": ranks,
        "iterations": seen.iterations,
        "throughput": result.throughput(seen, seen.size),
        "benchmark": dict(seen.benchmark),
        "loss": result.loss(seen),
        "weights": result.weights(seen),
        "nccl": dict(seen.nccl),
        "verdict": _verdict(why),
    }
