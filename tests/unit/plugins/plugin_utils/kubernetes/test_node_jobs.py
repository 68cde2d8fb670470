"""Jobs across nodes: a simulated cluster runs them, and the check suite judges their output."""

from __future__ import annotations

import functools
import re
import subprocess

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.judge import judge
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import collect
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import checks, node_job_results, node_jobs
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.logs import LINES
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.plan import plan
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.checks import problems
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.blocked import blocked, due

from vsphere_twin.kubernetes.cluster import Cluster
from vsphere_twin.kubernetes.operators.world import World
from wire import kubernetes_lab

from . import job_outputs
from .clusters import before, definition, requested
from .test_network_operator import DEFINITIONS, NAMESPACES, with_network

RESOURCE = "nvidia.com/roce"
OSU = {
    "latency": ["osu_latency", "-m", "8:8"],
    "bandwidth": ["osu_bw", "-m", "4194304:4194304"],
    "allreduce": ["osu_allreduce", "-m", "8:8"],
}
PLURALS = {"ConfigMap": "configmaps", "MPIJob": "mpijobs", "TrainJob": "trainjobs"}
KINDS = [*DEFINITIONS, definition("trainer.kubeflow.org", "TrainJob", "v1alpha1")]


def asked(engine="horovod", rdma=True, **validation):
    whole = with_network(training={})
    whole["training"]["engine"] = engine
    if not rdma:
        del whole["kubernetes"]["network_operator"]
    whole["kubernetes"]["checks"] = {"image": "images.example.org/cuda:12.4", "jobs": True}
    return {**whole, "validation": {"osu": OSU, **validation}}


class Simulated:
    """A cluster with GPU nodes and adapters whose pods print the output of the programs."""

    passes = 0  # seconds until the role reads a job

    def __init__(self, request, nodes=2, **programs):
        self.request, self.cluster = request, Cluster()
        self.world = World(self.cluster, installed=("mpi-operator", "trainer"))
        self.cluster.create("namespaces", {"metadata": {"name": "aiready"}})
        self.cluster.create("clustertrainingruntimes", kubernetes_lab.runtime())
        for number in range(1, nodes + 1):
            self.world.add_node(f"gpu-0{number}", labels={"nvidia.com/gpu.present": "true"})
        for one in self.cluster.list("nodes"):
            size = {**one["status"]["allocatable"], "nvidia.com/gpu": "1", RESOURCE: "1"}
            self.cluster.set_status("nodes", one, {**one["status"], "allocatable": size}, "kubelet")
        if request["network_operator"]:
            attachment = {"metadata": {"name": "roce"}, "spec": {"config": "{}"}}
            self.cluster.create("network-attachment-definitions", attachment, "aiready")
        self.world.programs.update({"launcher": job_outputs.launcher, "node": job_outputs.node, **programs})

    @property
    def planned(self):
        return node_jobs.planned(self.request, {"nodes": self.cluster.list("nodes"), "definitions": KINDS})

    def ran(self):
        """What the role stores for each job."""
        return [self.run(one) for one in self.planned]

    def run(self, one):
        for made in one["objects"]:
            plural = PLURALS[made["kind"]]
            self.cluster.create(
                plural, {key: made[key] for key in made if key not in ("apiVersion", "kind")}, "aiready"
            )
        self.world.settle()
        self.world.passed += self.passes
        self.world.settle()
        name, value = one["pods"][0].split("=")
        pods = [pod for pod in self.cluster.list("pods", "aiready") if pod["metadata"]["labels"].get(name) == value]
        speakers = [
            pod["metadata"]["name"]
            for pod in pods
            if pod["metadata"]["labels"].get("training.kubeflow.org/job-role") != "worker"
        ]
        logs = {pod: log for (_where, pod, _name), log in self.cluster.logs.items() if pod in speakers}
        jobs = [self.cluster.get(plural, one["name"], "aiready")]
        events = self.cluster.list("events", "aiready")
        seen = {"job": one, "jobs": jobs, "pods": pods, "events": events, "logs": logs, "unread": {}, "refused": []}
        seen["answer"] = {"resources": pods}
        for made in reversed(one["objects"]):
            plural = PLURALS[made["kind"]]
            found = self.cluster.get(plural, made["metadata"]["name"], "aiready")
            self.cluster.deleted(self.cluster.kind(plural), found)
        self.world.settle()
        assert self.cluster.list("pods", "aiready") == []
        return seen


def judged(request, done, nodes=2):
    """{id: row} of the jobs, whose nodes passed."""
    found = node_job_results.results(request, done, "results")
    inputs = checks.results(request, {"made": [], "pods": [], "events": [], "logs": {}})
    inputs["intent"] = checks.intent_of(request, [f"gpu-0{number}" for number in range(1, nodes + 1)])
    inputs["intent"]["skip"] = {
        **dict.fromkeys((*checks.ALL, *checks.WITH_RDMA), "not here"),
        **inputs["intent"]["skip"],
    }
    files = {f"results/{name}": text for name, text in found["files"].items()}
    measurements, _files = collect.collect({**inputs, "runs": found["runs"]}, lambda path: files.get(path, ""))
    rows = judge(measurements, inputs["intent"], request["checks"]["thresholds"])["rows"]
    return {row["id"]: row for row in rows if row["check"] in checks.OF_JOBS}


def runs(lab, done):
    return node_job_results.results(lab.request, done, "results")["runs"]


def test_jobs_measure_what_guests_measure():
    lab = Simulated(requested(asked(thresholds={"cluster.nccl": {"low": 10}, "pair.mpi_bw": {"low": 9}})))
    rows = judged(lab.request, lab.ran())
    bad = {key: row["why"] for key, row in rows.items() if row["verdict"] in ("not_run", "skipped")}
    assert bad == {}
    assert rows["cluster.nccl rdma"]["measured"] == pytest.approx(10.6, abs=0.01)
    assert rows["cluster.nccl rdma"]["verdict"] == "pass"
    assert rows["cluster.training gpu-01 (1:rdma)"]["measured"] == 100.0
    assert (rows["cluster.training 2:rdma"]["measured"], rows["cluster.training 2:tcp"]["measured"]) == (180.0, 120.0)
    assert rows["cluster.efficiency 2:rdma"]["measured"] == 90.0
    assert rows["cluster.rdma_gain 2"]["measured"] == 50.0
    # One job measures both directions, and the pods decide which is which.
    rates = {rows[f"pair.mpi_bw gpu-0{one} > gpu-0{other}"]["measured"] for one, other in ((1, 2), (2, 1))}
    assert rates == {9.604, 8.804}
    assert {rows[f"pair.mpi_bw gpu-0{one} > gpu-0{3 - one}"]["verdict"] for one in (1, 2)} == {"pass", "fail"}


def test_trainjobs_measure_nccl_and_training():
    lab = Simulated(requested(asked(engine="torchrun")))
    done = lab.ran()
    rows = judged(lab.request, done)
    assert rows["cluster.nccl rdma"]["measured"] == pytest.approx(10.6, abs=0.01)
    assert rows["cluster.training 2:tcp"]["measured"] == 200.0
    assert rows["pair.mpi_lat"]["why"].startswith("The site skips this check: site.training.engine is torchrun")
    (run,) = [one for one in runs(lab, done) if one["check"] == "cluster.training" and one["variant"] == "2:rdma"]
    # A pod of a TrainJob prints its host name, which is not its name.
    assert [rank["host"] for rank in run["run"]["training"]["after"]["result"]["ranks"]] == ["gpu-01", "gpu-02"]


def test_pods_are_one_on_each_chosen_node():
    lab = Simulated(requested(asked(osu=None, nodes=[2])), nodes=3)
    nccl, rdma, tcp = lab.planned
    assert [one["title"] for one in (nccl, rdma, tcp)] == [
        "cluster.nccl rdma on gpu-01, gpu-02, gpu-03",
        "cluster.training 2:rdma on gpu-01, gpu-02",
        "cluster.training 2:tcp on gpu-01, gpu-02",
    ]
    done = lab.ran()
    used = [sorted(pod["spec"]["nodeName"] for pod in node_job_results._of_ranks(one)) for one in done]
    assert used == [one["guests"] for one in lab.planned]
    assert len({one["name"] for one in lab.planned}) == 3


def test_tcp_uses_the_adapter_of_rdma():
    *_others, tcp = Simulated(requested(asked(osu=None))).planned
    (worker,) = tcp["objects"][-1]["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    (launcher,) = tcp["objects"][-1]["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"]
    assert worker["resources"]["limits"] == {"nvidia.com/gpu": 1, RESOURCE: 1}
    assert {"NCCL_IB_DISABLE=1", "NCCL_SOCKET_IFNAME=net1"} <= set(launcher["command"])


def test_sockets_instead_of_rdma_fail_with_the_cause():
    sockets = functools.partial(job_outputs.launcher, sockets=True)
    lab = Simulated(requested(asked(osu=None, nodes=[2])), launcher=sockets)
    rows = judged(lab.request, lab.ran())
    assert rows["cluster.nccl rdma"]["verdict"] == "fail"
    assert "NCCL used sockets" in rows["cluster.nccl rdma"]["why"]
    assert rows["cluster.training 2:rdma"]["verdict"] == "fail"
    assert rows["cluster.training 2:tcp"]["verdict"] != "fail"


def image(lab):
    lab.world.images.missing.add("images.example.org/horovod:0.28.1")


def gpus(lab):
    for one in lab.cluster.list("nodes"):
        size = {**one["status"]["allocatable"], "nvidia.com/gpu": "0"}
        lab.cluster.set_status("nodes", one, {**one["status"], "allocatable": size}, "kubelet")


@pytest.mark.parametrize(
    "fault, words, state",
    [
        (image, "The registry has no image with this name and tag", "stuck"),
        (gpus, "Insufficient nvidia.com/gpu", "waits"),
    ],
)
def test_job_that_does_not_start_has_its_cause(fault, words, state):
    lab = Simulated(requested(asked(osu=None, nodes=[2])))
    fault(lab)
    done = lab.ran()
    rows = judged(lab.request, done)
    assert {node_jobs.started(one["pods"], one["job"]) for one in done} == {state}
    for key in ("cluster.nccl rdma", "cluster.training 2:rdma", "cluster.training 2:tcp"):
        assert (rows[key]["verdict"], words in rows[key]["why"]) == ("fail", True), rows[key]["why"]


def test_refused_objects_and_a_missing_program_are_causes():
    lab = Simulated(requested(asked()))
    done = lab.ran()
    refused = [{**one, "refused": ["Quota exceeded."], "jobs": [], "logs": {}} for one in done]
    assert "Quota exceeded." in judged(lab.request, refused)["cluster.nccl rdma"]["why"]
    text = "### run pair.mpi_lat 0\n### rank 0 {0}-worker-0\n### rank 1 {0}-worker-1\nnot found\n### end 127\n"
    text = text.format(done[0]["job"]["name"])
    one = {**done[0], "logs": dict.fromkeys(done[0]["logs"], text)}
    said = [run["run"]["msg"] for run in runs(lab, [one]) if run["check"] == "pair.mpi_lat"]
    assert "The program osu_latency is missing in the image images.example.org/horovod:0.28.1." in said[0]
    assert "does not show the program with rank 0" in said[1]


def of(lab, check):
    return lab.run(next(one for one in lab.planned if one["checks"][0] == check))


@pytest.mark.parametrize("check, row", [("cluster.nccl", "cluster.nccl rdma"), ("cluster.mpi_allreduce",) * 2])
def test_pods_on_other_nodes_do_not_count(check, row):
    lab = Simulated(requested(asked(nodes=[2])))
    one = of(lab, check)
    pods = [{**pod, "spec": {**pod["spec"], "nodeName": "gpu-09"}} for pod in one["pods"]]
    found = judged(lab.request, [{**one, "pods": pods}])[row]
    assert (found["verdict"], "ran on gpu-09 instead of gpu-01, gpu-02" in found["why"]) == ("fail", True), found["why"]


@pytest.mark.parametrize(
    "answer, words",
    [
        ({"failed": True, "msg": "Forbidden"}, "The user of the kubeconfig may not read these objects"),
        ({"resources": []}, "has no pods any more"),
    ],
)
def test_missing_pods_are_not_pods_on_other_nodes(answer, words):
    lab = Simulated(requested(asked(osu=None, nodes=[2])))
    rows = judged(lab.request, [{**of(lab, "cluster.nccl"), "pods": [], "answer": answer}])
    assert words in rows["cluster.nccl rdma"]["why"]


def test_a_program_that_hangs_leaves_the_results_of_the_others():
    lab = Simulated(requested(asked()))
    one = of(lab, "pair.mpi_lat")
    name = next(iter(one["logs"]))
    log = one["logs"][name].replace("### end 0", "### end 124", 1)
    rows = judged(lab.request, [{**one, "logs": {name: log}}])
    hung = rows["pair.mpi_lat gpu-01 > gpu-02"]
    assert (hung["verdict"], "osu_latency exceeded its limit of 75 s." in hung["why"]) == ("fail", True), hung["why"]
    assert rows["pair.mpi_lat gpu-02 > gpu-01"]["measured"] == 21.5


@pytest.mark.parametrize(
    "check, running, words",
    [
        ("pair.mpi_lat", True, "It did not end within 300 s. Raise site.kubernetes.checks.limit_s."),
        ("cluster.nccl", True, "Raise site.training.limits.wall_s."),
        ("cluster.nccl", False, "Its pods did not run within 300 s."),
    ],
)
def test_a_job_that_reached_its_limit_names_the_option(check, running, words):
    lab = Simulated(requested(asked()), launcher=lambda _pod, _container: (None, ""))
    one = of(lab, check)
    said = judged(lab.request, [one if running else {**one, "pods": one["pods"][:1]}])
    assert any(words in row["why"] for row in said.values() if row["check"] == check), said


@pytest.mark.parametrize("check, row", [("cluster.nccl", "cluster.nccl rdma"), ("cluster.mpi_allreduce",) * 2])
def test_output_of_a_job_that_an_earlier_check_left_does_not_count(check, row):
    lab = Simulated(requested(asked(nodes=[2])))
    one = of(lab, check)
    jobs = [{**job, "metadata": {**job["metadata"], "deletionTimestamp": "x"}} for job in one["jobs"]]
    found = judged(lab.request, [{**one, "jobs": jobs}])[row]
    assert (found["measured"], "of an earlier check is being deleted" in found["why"]) == (None, True), found["why"]


@pytest.mark.parametrize("passes, words", [(300, "Job was active longer"), (600, "The pod exceeded its limit")])
def test_deadlines_of_a_job_name_the_option(passes, words):
    """Workers end one start later than their launcher."""
    lab = Simulated(requested(asked()), launcher=lambda _pod, _container: (None, ""))
    lab.passes = passes
    said = judged(lab.request, [of(lab, "pair.mpi_lat")])["pair.mpi_lat gpu-01 > gpu-02"]["why"]
    assert words in said
    assert "aise site.kubernetes.checks.limit_s" in said


def test_all_logs_of_a_job_count():
    lab = Simulated(requested(asked(osu=None, nodes=[2])))
    one = of(lab, "cluster.nccl")
    failed = [{"type": "Failed", "status": "True", "reason": "Error", "message": "x"}]
    jobs = [{**one["jobs"][0], "status": {"conditions": failed}}]
    logs = {"one": "CUDA error: out of memory\n", "two": "y\n" * LINES}
    rows = judged(lab.request, [{**one, "jobs": jobs, "logs": logs}])
    assert "The GPU has too little free memory" in rows["cluster.nccl rdma"]["why"]


def test_no_jobs_without_a_request():
    whole = asked()
    whole["kubernetes"]["checks"]["jobs"] = False
    lab = Simulated(requested(whole))
    assert lab.planned == []
    rows = judged(lab.request, [])
    assert rows["cluster.nccl"]["why"] == "The site skips this check: site.kubernetes.checks.jobs is not set."


def test_plan_has_no_fields_that_the_cluster_does_not_know():
    for engine in ("horovod", "torchrun"):
        made = plan(requested(asked(engine=engine)), before(definitions=KINDS, namespaces=NAMESPACES))
        assert made["problems"] == []


def test_jobs_need_the_training_in_pods():
    whole = asked()
    del whole["kubernetes"]["training"]
    assert any("site.kubernetes.checks.jobs: they are jobs like" in one for one in problems(whole))


MPIRUN = """#!/bin/sh
while [ "$1" != --hostfile ]; do shift; done
rank=0
for host in $(sed 's/\\..*//' "$2"); do
  (while [ "$1" != sh ]; do shift; done; OMPI_COMM_WORLD_RANK=$rank HOST=$host "$@") || exit $?
  rank=$((rank + 1))
done
"""


def test_the_script_of_the_launcher_runs_in_a_shell(tmp_path):
    """With a program in place of mpirun that starts the ranks in the order of the host file."""
    lab = Simulated(requested(asked()))
    one = lab.run(lab.planned[0])
    (container,) = one["job"]["objects"][-1]["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"]
    programs = {"mpirun": MPIRUN, "hostname": "#!/bin/sh\necho $HOST\n"}
    programs["osu_latency"] = f"#!/bin/sh\n[ $OMPI_COMM_WORLD_RANK = 1 ] || echo '{job_outputs.OSU['osu_latency']}'\n"
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    name = one["job"]["name"]
    (tmp_path / "hostfile").write_text("".join(f"{name}-worker-{at}.{name}.aiready.svc slots=1\n" for at in (0, 1)))
    # Both in one pass: the folder of a supervised run begins with /tmp/aiready, too.
    places = {"/etc/mpi": str(tmp_path), "/tmp/aiready": f"{tmp_path}/aiready"}
    script = re.sub("|".join(places), lambda found: places[found[0]], container["command"][2])
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    log = subprocess.run(["/bin/sh", "-c", script], env=env, capture_output=True, text=True, check=False).stdout
    rows = judged(lab.request, [{**one, "logs": dict.fromkeys(one["logs"], log)}])
    for pair in ("gpu-01 > gpu-02", "gpu-02 > gpu-01"):
        assert rows[f"pair.mpi_lat {pair}"]["measured"] == 21.5, log
        # The image of this test has no osu_bw.
        assert "The program osu_bw is missing" in rows[f"pair.mpi_bw {pair}"]["why"], log


def test_a_job_whose_variant_is_blocked_does_not_run():
    lab = Simulated(requested(asked(osu=None)))
    inputs = checks.results(lab.request, {"made": [], "pods": [], "events": [], "logs": {}})
    names = ["gpu-01", "gpu-02"]
    seen = {**inputs, "intent": checks.intent_of(lab.request, names), "guests": {}}
    # Without a result of the nodes, only what needs none of them may run.
    expected = [one["title"] for one in lab.planned if not blocked(seen, one["check"], one["guests"], one["variant"])]
    assert [one["title"] for step in due([lab.planned], seen) for one in step] == expected
    seen["intent"]["skip"] = {**seen["intent"]["skip"], **dict.fromkeys((*checks.ALL, *checks.WITH_RDMA), "not here")}
    assert [[one["title"] for one in step] for step in due([lab.planned], seen)] == [
        [one["title"] for one in lab.planned]
    ]
