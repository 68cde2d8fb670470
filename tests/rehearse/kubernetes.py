"""Rehearse the stage kubernetes: from ready hosts to VMs that are nodes of a cluster, whose pods train."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from vsphere_twin.kubernetes.launch import launch_cluster
from vsphere_twin.launch import launch
from wire import kubernetes_lab

from . import center, playbook, pods
from .failure import RehearsalFailed

HERE = Path(__file__).resolve().parent
MACHINES, KUBERNETES = (playbook.ROOT / "playbooks" / name for name in ("machines.yml", "kubernetes.yml"))
NAMESPACE = "aiready"
# (engine, kind, plural name, condition of a success)
JOBS = (("horovod", "MPIJob", "mpijobs", "Succeeded"), ("torchrun", "TrainJob", "trainjobs", "Complete"))
# The operators read these kinds and write only to their status.
KEPT = ("namespaces", "secrets", "configmaps", "clusterpolicies", "mpijobs", "trainjobs")


def rehearse(report: Any, work: Path, results: Path, thorough: bool, real: bool, say: Callable[[str], None]) -> None:
    """Run the steps on a simulated data centre and cluster. real: the pods of trainings are containers."""
    env = playbook.environment(work, ANSIBLE_CALLBACKS_ENABLED="aiready.vsphere.record")
    with ExitStack() as running:
        with report.step("Start a simulated data centre with two ready hosts, and a simulated cluster") as note:
            twin = running.enter_context(launch(seed="small"))
            playbook.write_endpoint(twin, work)
            server = running.enter_context(launch_cluster(work))
            with server.cluster.lock:
                kubernetes_lab.furnish(server)
            if real:
                server.world.pod_runtime = running.enter_context(pods.engine(server.cluster, NAMESPACE, say))
            running.enter_context(kubernetes_lab.working(server))
            # Playbooks import Ansible once.
            running.enter_context(playbook.forked())
            note(f"the cluster is at {server.url}")
        play = _Player(env, work, results, say, str(server.kubeconfig_file))
        with report.step(f"Run playbooks/machines.yml: each host gets a VM with {center.PROFILE}") as note:
            made = play(MACHINES, "machines", "horovod")
            note(f"changed={made.changed}; {center.proof(twin)}")
        with report.step("Join the VMs to the cluster as nodes") as note:
            note(_joined(twin, server))
        if thorough:
            with report.step(
                "Run playbooks/kubernetes.yml --check --diff: it reports the changes and makes none"
            ) as note:
                note(_planned(server, play))
        for engine, kind, plural, success in JOBS:
            title = f"Run playbooks/kubernetes.yml: the nodes offer their GPUs, and the pods of a {kind} train"
            with report.step(title) as note:
                made = play(KUBERNETES, engine, engine)
                note(f"changed={made.changed}; {_offered(server)}; {_trained(server, plural, success, real)}")
        if thorough:
            with report.step("Run playbooks/kubernetes.yml again for both jobs: it must change nothing") as note:
                for engine, *_others in JOBS:
                    again = play(KUBERNETES, f"{engine}-again", engine)
                    if again.changed:
                        raise RehearsalFailed(f"The second run changed something: changed={again.changed}.")
                note("changed=0 twice")
        with report.step("Write the report of the trainings") as note:
            file = results / "kubernetes.json"
            file.write_text(json.dumps(_report(server, real), indent=2) + "\n")
            report.verdict = f"Report: {file}"
            note(str(file))


class _Player:
    """Runs playbooks with the site of this rehearsal."""

    def __init__(self, env: dict[str, str], work: Path, results: Path, say: Callable[[str], None], kubeconfig: str):
        self.env, self.work, self.results, self.say, self.kubeconfig = env, work, results, say, kubeconfig

    def __call__(self, of: Path, folder: str, engine: str, *arguments: str) -> playbook.Run:
        given = json.dumps({"pods_engine": engine, "pods_kubeconfig": self.kubeconfig})
        words = ("--extra-vars", f"@{HERE / 'kubernetes.yml'}", "--extra-vars", given, *arguments)
        env = {**self.env, "AIREADY_RUN_FOLDER": str(self.results / folder)}
        run = playbook.run(of, *words, env=env, echo=lambda line: self.say(f"  | {line}"))
        if run.status != 0:
            raise RehearsalFailed(f"The playbook ended with status {run.status}; its output is above.")
        return run


def _joined(twin: Any, server: Any) -> str:
    """Add a node for each VM, with the GPUs of the VM and the driver of its host."""
    with twin.world.lock:
        machines = [vm for vm in twin.world.of_kind("VirtualMachine") if vm.name in center.VMS]
        hardware = {vm.name: (len(vm.vgpus), vm.host.driver.version) for vm in machines}
    with server.cluster.lock:
        for name, (gpus, driver) in sorted(hardware.items()):
            server.world.add_node(name, gpus=gpus, vgpu=True, host_branch=driver.partition(".")[0])
    return ", ".join(f"{name} with {gpus} GPU on host driver {driver}" for name, (gpus, driver) in hardware.items())


def _state(server: Any) -> str:
    with server.cluster.lock:
        rows = {plural: server.cluster.list(plural) for plural in KEPT}
    return json.dumps({plural: [{**one, "status": None} for one in found] for plural, found in rows.items()})


def _planned(server: Any, play: _Player) -> str:
    server.world.settle()
    before = _state(server)
    planned = play(KUBERNETES, "plan", JOBS[0][0], "--check", "--diff")
    if not planned.changed:
        raise RehearsalFailed("The plan announced nothing, so it proves nothing.")
    if _state(server) != before:
        raise RehearsalFailed("Check mode changed the cluster.")
    return f"{planned.changed} tasks report a change, none made one"


def _offered(server: Any) -> str:
    """Check in the model that each VM offers its GPU, and that its driver has a licence."""
    cluster = server.cluster
    with cluster.lock:
        offered = {one["metadata"]["name"]: one["status"]["allocatable"] for one in cluster.list("nodes")}
        logs = [text for (_namespace, _pod, name), text in cluster.logs.items() if name == "nvidia-driver-ctr"]
    wrong = [name for name in center.VMS if offered[name].get("nvidia.com/gpu") != "1"]
    if wrong:
        raise RehearsalFailed(f"These nodes do not offer one GPU: {', '.join(wrong)}.")
    if sum("Licensed (" in text for text in logs) < len(center.VMS):
        raise RehearsalFailed("Not all drivers have a licence.")
    return "each node offers a licensed GPU"


def _trained(server: Any, plural: str, success: str, real: bool) -> str:
    """Check in the model that the job of this kind succeeded on all nodes; with containers, that it really trained."""
    cluster = server.cluster
    with cluster.lock:
        (job,) = cluster.list(plural, NAMESPACE)
    ends = [one["type"] for one in job["status"]["conditions"] if one["status"] == "True"]
    if success not in ends:
        raise RehearsalFailed(f"The {job['kind']} has the conditions {', '.join(ends)}, not {success}.")
    text = f"{job['kind']} {job['metadata']['name']} succeeded"
    return f"{text}; {pods.trained(_log(server, job))}" if real else text


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
