"""Rehearse the stage kubernetes: from ready hosts to a cluster of a Supervisor, whose pods train."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from vsphere_twin.launch import launch
from wire import kubernetes_lab

from . import center, plan, playbook, pod_report, pod_texts, pods, supervisor
from .failure import RehearsalFailed

HERE = Path(__file__).resolve().parent
KUBERNETES = playbook.ROOT / "playbooks" / "kubernetes.yml"
NAMESPACE = "aiready"
# (engine, kind, plural name, condition of a success)
JOBS = (("horovod", "MPIJob", "mpijobs", "Succeeded"), ("torchrun", "TrainJob", "trainjobs", "Complete"))
RESOURCES = ("nvidia.com/gpu", "nvidia.com/roce")
# In the definition of each job: the network and the adapter.
REQUESTED = ('"k8s.v1.cni.cncf.io/networks": "roce"', '"nvidia.com/roce": 1')
# The traffic class of site.roce, as a variable of a TrainJob or as an option of mpirun.
TRAFFIC_CLASS, VARIABLES = "106", ("NCCL_IB_TC", "UCX_IB_TRAFFIC_CLASS")
# The operators read these kinds and write only to their status.
KEPT = (
    *("namespaces", "secrets", "configmaps", "clusterpolicies", "mpijobs", "trainjobs"),
    *("nicclusterpolicies", "ippools", "hostdevicenetworks"),
)


def rehearse(report: Any, work: Path, results: Path, thorough: bool, real: bool, say: Callable[[str], None]) -> None:
    """Run the steps on a simulated data centre and cluster. real: the pods of trainings are containers."""
    env = playbook.environment(work, ANSIBLE_CALLBACKS_ENABLED="aiready.vsphere.record")
    with ExitStack() as running:
        with report.step(
            "Start a simulated data centre with two ready hosts, and a Supervisor on their cluster"
        ) as note:
            twin = running.enter_context(launch(seed="small", faces=("kubernetes",)))
            playbook.write_endpoint(twin, work)
            supervisor.prepare(twin)
            # Playbooks import Ansible once.
            running.enter_context(playbook.forked())
            note(f"the Supervisor is at {twin.kubernetes.url}")
        play = _Player(env, results, say)
        if thorough:
            title = (
                "Run playbooks/kubernetes.yml --check --diff without a cluster: it plans the VM classes, and makes none"
            )
            with report.step(title) as note:
                note(_planned(lambda: supervisor.state(twin), play, "plan"))
        title = f"Run playbooks/kubernetes.yml: it creates the cluster, and each host gets a VM with {center.PROFILE}"
        with report.step(f"{title}. It ends with the missing operators") as note:
            made = play(KUBERNETES, "cluster", JOBS[0][0], status=2)
            note(f"changed={made.changed}; {supervisor.created(twin, made)}")
            if thorough:
                note(plan.kept(results / "plan", results / "cluster"))
        with report.step("Install the operators in the cluster, as docs/kubernetes.md describes") as note:
            (server,) = twin.kubernetes.made.values()
            with server.cluster.lock:
                kubernetes_lab.furnish(server)
            if real:
                server.world.pod_runtime = running.enter_context(pods.engine(server.world, NAMESPACE, say))
            else:
                server.world.programs.update(pod_texts.PROGRAMS)
            running.enter_context(kubernetes_lab.working(server))
            note(f"the cluster is at {server.url}")
        if thorough:
            with report.step(
                "Run playbooks/kubernetes.yml --check --diff: it reports the changes and makes none"
            ) as note:
                server.world.settle()
                note(_planned(lambda: _state(twin, server), play, "plan-operators"))
        for engine, kind, plural, success in JOBS:
            title = f"Run playbooks/kubernetes.yml: the nodes offer their GPUs, and the pods of a {kind} train"
            with report.step(title) as note:
                made = play(KUBERNETES, engine, engine)
                note(f"changed={made.changed}; {_offered(server)}; {_trained(server, plural, success, real)}")
                if thorough and engine == JOBS[0][0]:
                    note(plan.kept(results / "plan-operators", results / engine))
        title = "Run playbooks/kubernetes.yml again, with checks: pods measure the nodes, and nothing changes"
        with report.step(title) as note:
            again = play(KUBERNETES, "checks", JOBS[0][0], **pod_report.variables(real))
            if again.changed:
                raise RehearsalFailed(f"The run with checks changed something: changed={again.changed}.")
            note(f"changed=0; {pod_report.validated(results / 'checks', len(supervisor.NODES), real)}")
        if thorough:
            engine, kind = JOBS[1][:2]
            with report.step(f"Run playbooks/kubernetes.yml again for the {kind}: it must change nothing") as note:
                again = play(KUBERNETES, f"{engine}-again", engine)
                if again.changed:
                    raise RehearsalFailed(f"The second run changed something: changed={again.changed}.")
                note("changed=0")
        with report.step("Write the results of the trainings") as note:
            file = results / "kubernetes.json"
            file.write_text(json.dumps(_report(server, real), indent=2) + "\n")
            report.verdict = f"Report: {results / 'checks' / 'report.html'}"
            note(str(file))


class _Player:
    """Runs playbooks with the site of this rehearsal."""

    def __init__(self, env: dict[str, str], results: Path, say: Callable[[str], None]):
        self.env, self.results, self.say = env, results, say

    def __call__(
        self, of: Path, folder: str, engine: str, *arguments: str, status: int = 0, **variables: Any
    ) -> playbook.Run:
        given = json.dumps({"pods_engine": engine, **variables})
        words = ("--extra-vars", f"@{HERE / 'kubernetes.yml'}", "--extra-vars", given, *arguments)
        env = {**self.env, "AIREADY_RUN_FOLDER": str(self.results / folder)}
        run = playbook.run(of, *words, env=env, echo=lambda line: self.say(f"  | {line}"))
        if run.status != status:
            raise RehearsalFailed(f"The playbook ended with status {run.status}, not {status}; its output is above.")
        return run


def _state(twin: Any, server: Any) -> str:
    with server.cluster.lock:
        rows = {plural: server.cluster.list(plural) for plural in KEPT}
    made = {plural: [{**one, "status": None} for one in found] for plural, found in rows.items()}
    return json.dumps([made, supervisor.state(twin)])


def _planned(state: Callable[[], str], play: _Player, folder: str) -> str:
    before = state()
    planned = play(KUBERNETES, folder, JOBS[0][0], "--check", "--diff")
    if not planned.changed:
        raise RehearsalFailed("The plan announced nothing, so it proves nothing.")
    if state() != before:
        raise RehearsalFailed("Check mode changed the cluster.")
    return f"{planned.changed} tasks report a change, none made one"


def _offered(server: Any) -> str:
    """Check in the model that each VM offers its GPU and its port, and that its driver has a licence."""
    cluster = server.cluster
    with cluster.lock:
        offered = {one["metadata"]["name"]: one["status"]["allocatable"] for one in cluster.list("nodes")}
        logs = [text for (_namespace, _pod, name), text in cluster.logs.items() if name == "nvidia-driver-ctr"]
    wrong = [f"{name}: {one}" for name in supervisor.NODES for one in RESOURCES if offered[name].get(one) != "1"]
    if wrong:
        raise RehearsalFailed(f"These nodes do not offer one GPU and one adapter: {', '.join(wrong)}.")
    if sum("Licensed (" in text for text in logs) < len(supervisor.NODES):
        raise RehearsalFailed("Not all drivers have a licence.")
    return "each node offers a licensed GPU and an RDMA adapter"


def _trained(server: Any, plural: str, success: str, real: bool) -> str:
    """Check in the model that the job of this kind succeeded on all nodes; with containers, that it really trained."""
    cluster = server.cluster
    with cluster.lock:
        (job,) = cluster.list(plural, NAMESPACE)
    ends = [one["type"] for one in job["status"]["conditions"] if one["status"] == "True"]
    if success not in ends:
        raise RehearsalFailed(f"The {job['kind']} has the conditions {', '.join(ends)}, not {success}.")
    text = f"{job['kind']} {job['metadata']['name']} succeeded; {_attached(server, job)}"
    return f"{text}; {pods.trained(_log(server, job))}" if real else text


def _attached(server: Any, job: dict[str, Any]) -> str:
    """Check in the model that the ranks requested adapters, on separate nodes, with the traffic class of the site.

    The operator removes workers of an ended MPIJob, so the events of the scheduler name their nodes.
    """
    name, spec = job["metadata"]["name"], json.dumps(job["spec"])
    missing = [one for one in REQUESTED if one not in spec] + without_class(job["spec"])
    with server.cluster.lock:
        events = [one for one in server.cluster.list("events", NAMESPACE) if one["reason"] == "Scheduled"]
    pods = {one["involvedObject"]["name"]: one["message"].rpartition(" ")[2] for one in events}
    nodes = {node for pod, node in pods.items() if pod.startswith(name) and "-launcher" not in pod}
    if missing or len(nodes) != len(supervisor.NODES):
        raise RehearsalFailed(f"The ranks of {name} ran on {sorted(nodes)}. Their pods lack {', '.join(missing)}.")
    return f"its ranks had an RDMA adapter on {len(nodes)} nodes and the traffic class of the site"


def without_class(spec: Any) -> list[str]:
    """The variables of the ranks that do not have the traffic class of the site."""
    found = set(_values(spec))
    return [one for one in (f"{variable}={TRAFFIC_CLASS}" for variable in VARIABLES) if one not in found]


def _values(spec: Any) -> Iterator[str]:
    """Each word of a command, and each variable of a container as one word."""
    if isinstance(spec, str):
        yield spec
    elif isinstance(spec, list):
        for one in spec:
            yield from _values(one)
    elif isinstance(spec, dict):
        if {"name", "value"} == set(spec):
            yield f"{spec['name']}={spec['value']}"
        yield from _values(list(spec.values()))


def _log(server: Any, job: dict[str, Any]) -> str:
    name = job["metadata"]["name"]
    with server.cluster.lock:
        rows = [text for (where, pod, _c), text in server.cluster.logs.items() if where == NAMESPACE and name in pod]
    return "\n".join(text() if callable(text) else text for text in rows)


def _report(server: Any, real: bool) -> dict[str, Any]:
    """The jobs of the rehearsal: name, conditions, and figures of those that really trained."""
    made = []
    for _engine, kind, plural, _success in JOBS:
        with server.cluster.lock:
            found = server.cluster.list(plural, NAMESPACE)
        for job in found:
            row: dict[str, Any] = {"kind": kind, "name": job["metadata"]["name"]}
            row["conditions"] = [one["type"] for one in job["status"]["conditions"] if one["status"] == "True"]
            row["ranks"] = pods.ranks(_log(server, job)) if real else []
            made.append(row)
    simulated = ["vcenter", "hosts", "gpu", "kubernetes"] + ([] if real else ["pods"])
    return {"simulated_parts": simulated, "trainings": made}
