"""Trainings on the two guests of a lab: how they are asked for, and what is there of them afterwards."""

from __future__ import annotations

import contextlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import nccl_tests

from supervise.runs import ROOT

from .lab import until

OURS = "aiready.vsphere"
TRAININGS = ROOT / "roles/horovod/files/trainings"
PAIR = ("job-01", "job-02")
CANARY = "canary-4711"
# The guests share processors, where threads of one rank would wait for those of the other.
FOREVER, LONGER, WHOLE, SHORT = (["--threads", "1", "--iterations", count] for count in ("1000000", "150", "60", "15"))
# The first two are reached only where a run does not notice what became of it, the last one wherever a guest is silent.
LIMITS = {"wall_s": 300, "stall_s": 240, "lost_s": 10}
WORK = "/run/aiready-training"
# What belongs to a run: programs in its containers, and what waits for them. The brackets keep it from finding itself.
NOTHING = ["", ""]
OURS_PROGRAMS = "[/]aiready/|[m]pirun|[o]rted|[h]orovodrun|[t]orch.distributed|[d]eepspeed|[r]aylet|[g]cs_server"
OURS_RUNNING = f"ps -eo args | grep -E '{OURS_PROGRAMS}' || true"
# It goes on with fewer ranks, from where all of them were last.
ELASTIC = """
import json, time, torch
import horovod.torch as hvd
hvd.init()
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())

@hvd.elastic.run
def train(state):
    while state.batch < 150:
        optimizer.zero_grad()
        model(torch.ones(2, 4)).pow(2).mean().backward()
        optimizer.step()
        reported = {"event": "iteration", "rank": hvd.rank(), "iteration": state.batch, "size": hvd.size()}
        print("AIREADY " + json.dumps(reported), flush=True)
        state.batch += 1
        state.commit()
        time.sleep(0.1)

train(hvd.elastic.TorchState(model, optimizer, batch=0))
"""
# The small training, which waits after each iteration, so that something can happen to it on a machine of any speed.
SLOW = """
import sys, time
sys.path.insert(0, "/slow")
import engines, small
save = small.Checkpoint.save

def save_and_wait(self, iteration, first):
    save(self, iteration, first)
    time.sleep(0.2)

small.Checkpoint.save = save_and_wait
engines.run(small.train, small.parser().parse_args())
"""


def trained(answer):
    """Whether the module says that all went well."""
    return not answer.get("failed") and not answer["training"]["failed"]


def trained_over_the_data_path(answer):
    """What a good run of the small training on both guests has shown."""
    assert trained(answer), answer.get("msg")
    reported = answer["training"]["after"]["result"]
    assert reported["weights"]["equal"]
    assert reported["loss"]["last"] < reported["loss"]["first"]
    assert [host["carried_by"] for host in reported["hosts"]] == ["ens224", "ens224"]
    assert [rank["host"] for rank in reported["ranks"]] == list(PAIR)
    assert json.loads(Path(reported["file"]).read_text())["verdict"]["state"] == "passed"


def measures_an_all_reduce(trainings, engine, **more):
    """Ranks of this launcher print the table of nccl-tests, which start with mpirun only."""
    sizes = ["-b", "4M", "-e", "8M", "-f", "2", "-n", "1", "-w", "1"]
    answer = trainings.run(engine=engine, builtin="all_reduce", arguments=sizes, **more)
    assert trained(answer), answer.get("msg")
    reported = nccl_tests.parse(Path(answer["training"]["after"]["result"]["log"]).read_text())
    assert (reported["why"], reported["nodes"], reported["wrong"], reported["largest_bytes"]) == ("", 2, 0, 8 * 2**20)
    assert reported["busbw"] > 0


class Trainings:
    """Trainings on both guests, which have Docker and may fetch from the registry."""

    def __init__(self, lab, registry):
        self.lab, self.registry, self.results = lab, registry, lab.work / "results"
        login = {name: registry[name] for name in ("address", "username", "password", "ca_file")}
        variables = {"gpu": False, "memlock": "ignore", "registries": [login]}
        play = {
            "hosts": ",".join(PAIR),
            "become": True,
            "vars": {f"container_runtime_{name}": value for name, value in variables.items()},
            "roles": [f"{OURS}.container_runtime"],
        }
        prepared = lab.playbook([play])
        assert prepared.status == 0, prepared.output

    def task(self, **requested):
        """The module's call; it has a secret in the environment of the task."""
        given = {
            "hosts": [{"name": name, "interface": "ens224"} for name in PAIR],
            "image": self.registry["training_image"],
            "gpus": "none",
            "memlock": "ignore",
            # It imports every framework several times, which takes longer than the training.
            "check_build": False,
            "builtin": "small",
            "limits": LIMITS,
            "result_dir": str(self.results),
            **requested,
        }
        given = {name: value for name, value in given.items() if value is not None}
        return {"name": "Train", f"{OURS}.training_run": given, "environment": {"NGC_API_KEY": CANARY}}

    def run(self, check=False, variables=None, **requested):
        """The answer of the module."""
        tasks = [{**self.task(**requested), "ignore_errors": True}]
        (answer,) = self.lab.play(tasks, hosts=[PAIR[0]], check=check, variables=variables)
        return answer

    def meanwhile(self, strike, arguments=FOREVER, **requested):
        """The answer of a run that would go on for ever; strike is called when it trains."""
        with ThreadPoolExecutor(max_workers=1) as pool:
            running = pool.submit(self.run, arguments=arguments, **requested)
            try:
                until(lambda: running.done() or self.trains())
                assert not running.done(), running.result()
                strike()
            except BaseException:
                self.end()  # else it would go on, and be waited for
                raise
            return running.result()

    @contextlib.contextmanager
    def begun(self):
        """The process of an ansible-playbook that would train for ever, and trains."""
        play = {"hosts": PAIR[0], "gather_facts": False, "become": True, "tasks": [self.task(arguments=FOREVER)]}
        with self.lab.begun([play]) as process:
            until(lambda: process.poll() is not None or self.trains())
            assert process.poll() is None
            yield process

    def slowly(self, folder, name):
        """The slow training in an empty folder of a guest, to be mounted as /slow."""
        self.do(name, f"rm -rf {folder}")
        for file in ("engines.py", "small.py"):
            self.lab.guest(name).put(f"{folder}/{file}", (TRAININGS / file).read_text(encoding="utf-8"))
        self.lab.guest(name).put(f"{folder}/slow.py", SLOW)

    def end(self):
        """Whatever trains is over."""
        for name in PAIR:
            self.sh(name, "docker kill $(docker ps -q --filter label=aiready.training)")

    def trains(self):
        return self.iterations() > 0

    def iterations(self):
        """How many the first guest's launcher has printed."""
        return int(self.sh(PAIR[0], f"cat {WORK}/*/out/output 2>/dev/null | grep -c '\"iteration\"' || true"))

    def sh(self, name, text):
        return self.lab.guest(name).run(["sh", "-c", text])[1].strip()

    def do(self, name, text):
        """What has to be possible."""
        status, out, err = self.lab.guest(name).run(["sh", "-c", text])
        assert status == 0, (status, out, err)

    def runs(self):
        """Containers and processes of runs on the guests."""
        return [self.sh(name, f"docker ps -q --filter label=aiready.training; {OURS_RUNNING}") for name in PAIR]

    def left(self):
        """The same, with containers that have ended and folders of runs."""
        asked = f"docker ps -aq --filter label=aiready.training; {OURS_RUNNING}; ls {WORK} 2>/dev/null"
        return [self.sh(name, asked) for name in PAIR]

    def verdict(self):
        """Of the last run, from its file."""
        newest = max(self.results.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        return json.loads(newest.read_text())["verdict"]
