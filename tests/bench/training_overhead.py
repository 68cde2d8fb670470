"""Overhead of training_run: one training by the module, and the same by a plain mpirun.

Both run the built-in benchmark in containers of the same image on the same two guests, in turns. The comparison uses
the rate that the ranks themselves report, without the first iteration. The start is reported separately, since it
hardly matters in a training of hours. Guests have processors of their own, as machines have in the field: the first one
is left to this program, which represents the Ansible controller, and to the simulated data centre.

The speed of a shared machine varies more than the difference to measure. The ranks' share of the guests' processors
does not vary, and monitoring would reduce that share.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.processor_share import Share
from guests.faults import vm
from guests.lab import Lab
from guests.test_training_run import PAIR, Trainings
from rehearse import playbook
from vsphere_twin.guests.registry import Registry
from vsphere_twin.launch import launch

SEED = Path(__file__).parents[1] / "guests" / "seed.yml"
TRAININGS = playbook.ROOT / "roles/horovod/files/trainings"
JOB = ("--batch", "4", "--image-size", "32", "--width", "16", "--threads", "1", "--warmup", "4")
PORT, PLACE = "2222", "/srv/plain"
# Processor time of each rank for its start and its preparation.
WARM_S = 3
MPIRUN = (
    *("mpirun", "--allow-run-as-root", "--tag-output", "-np", "2", "--bind-to", "none", "--map-by", "slot"),
    *("--mca", "pml", "ob1", "--mca", "btl", "^openib", "--mca", "btl_vader_single_copy_mechanism", "none"),
    *("--mca", "btl_tcp_if_include", "ens224", "--mca", "oob_tcp_if_include", "ens224"),
    *("--mca", "plm_rsh_args", f"-p {PORT} -i {PLACE}/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"),
)


@dataclass(frozen=True)
class Figure:
    """Result of one run: samples a second of all ranks together, their share of the processors, seconds from order to
    end."""

    rate: float
    share: float
    seconds: float


class Plain:
    """Manual equivalent: a container on each guest, an sshd in it, and mpirun."""

    def __init__(self, lab, image, theirs):
        self._theirs = theirs
        self._guests = [lab.guest(name) for name in PAIR]
        self._addresses = [guest.address("ens224") for guest in self._guests]
        first = self._guests[0]
        _do(first, f"mkdir -p {PLACE} && ssh-keygen -q -t ed25519 -N '' -f {PLACE}/key")
        files = {path.name: path.read_text() for path in TRAININGS.glob("*.py")}
        files |= {name: first.read(f"{PLACE}/{name}") for name in ("key", "key.pub")}
        for guest in self._guests:
            for name, content in files.items():
                guest.put(f"{PLACE}/{name}", content, 0o600)
            _do(guest, f"docker run -d --name plain --network host -v {PLACE}:{PLACE} {image} sleep infinity")
            _do(
                guest,
                f"docker exec plain sh -c 'mkdir -p /run/sshd && /usr/sbin/sshd -p {PORT} -o PasswordAuthentication=no"
                f" -o StrictModes=no -o HostKey={PLACE}/key -o AuthorizedKeysFile={PLACE}/key.pub'",
            )

    def run(self, job):
        """Run the benchmark once."""
        began = time.monotonic()
        hosts = ",".join(f"{address}:1" for address in self._addresses)
        argv = ["docker", "exec", "plain", *MPIRUN, "-H", hosts, "python3", f"{PLACE}/synthetic.py", *job]
        with ranks(self._theirs) as share:
            status, out, err = self._guests[0].run(argv)
        if status:
            sys.exit(f"mpirun ended with {status}: {out}{err}")
        return Figure(_rate(out), share.value, time.monotonic() - began)

    def close(self):
        """Remove everything of it from the guests."""
        for guest in self._guests:
            _do(guest, f"docker rm -f plain; rm -rf {PLACE}")


def _do(guest, text):
    status, out, err = guest.run(["sh", "-c", text])
    if status:
        sys.exit(f"{guest.name}: `{text[:80]}` ended with {status}: {err}")
    return out


def _rate(output):
    """Return the rate of all ranks together, without the first iteration, as training_run computes it."""
    reported = {}
    for line in output.splitlines():
        _head, found, text = line.partition("AIREADY ")
        event = json.loads(text) if found else {}
        if event.get("event") == "iteration":
            reported.setdefault(event["iteration"], []).append(event["samples_per_s"])
    return statistics.fmean(sum(rates) for number, rates in reported.items() if number)


def ranks(processors):
    """Find the ranks of a benchmark, one on each guest."""

    def is_rank(argv):
        return Path(argv[0]).name.startswith("python") and Path((*argv, "")[1]).name == "synthetic.py"

    return Share(processors, is_rank, len(PAIR), WARM_S)


def apart():
    """The processors of the guests; everything that this program starts keeps to another."""
    mine, *theirs = sorted(os.sched_getaffinity(0))
    if not theirs:
        sys.exit("With one processor alone, guests would share it with this program.")
    os.sched_setaffinity(0, {mine})
    return set(theirs)


def measure(rounds, iterations, steps):
    """Return {way: [Figure]} of this many turns."""
    theirs = apart()
    job = ["--iterations", str(iterations), "--steps", str(steps), *JOB]
    figures = {"training_run": [], "mpirun": []}
    with launch(SEED, faces=("guests", "depot")) as twin, tempfile.TemporaryDirectory() as work:
        lab, made = Lab(twin, work), twin.guests
        network, directory = made.networks.name(made.management), Path(twin.ca_file).parent
        registry = Registry(made.client, made.lab, network, directory, print)
        registry.start()
        for name in PAIR:
            twin.guest(name).wait()
            made.client.api.update_container(made.lab.name(vm(twin, name).moid), cpuset_cpus=",".join(map(str, theirs)))
        try:
            trainings = Trainings(lab, registry.endpoint())
            # Pulls the image, too.
            trainings.run(builtin="synthetic", arguments=[*job[:1], "1", *job[2:]], data_path="tcp")
            plain = Plain(lab, registry.endpoint()["training_image"], theirs)
            for turn in range(1, rounds + 1):
                figures["training_run"].append(_ours(trainings, job, theirs))
                figures["mpirun"].append(plain.run(job))
                reported = ", ".join(
                    f"{way} {some[-1].rate:.1f} samples/s, {some[-1].share:.2%}" for way, some in figures.items()
                )
                print(f"turn {turn} of {rounds}: {reported}", file=sys.stderr, flush=True)
            plain.close()
        finally:
            registry.stop()
            lab.close()
    return figures


def _ours(trainings, job, theirs):
    began = time.monotonic()
    with ranks(theirs) as share:
        answer = trainings.run(builtin="synthetic", arguments=job, data_path="tcp")
    if answer.get("failed"):
        sys.exit(answer["msg"])
    newest = max(trainings.results.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    return Figure(json.loads(newest.read_text())["throughput"]["mean"], share.value, time.monotonic() - began)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--steps", type=int, default=10)
    options = parser.parse_args(argv)
    figures = measure(options.rounds, options.iterations, options.steps)
    print(f"{'':<14}{'samples/s':>10}{'from':>8}{'to':>8}{'seconds':>9}{'processors':>12}{'from':>9}{'to':>9}")
    for way, some in figures.items():
        rates = [one.rate for one in some]
        seconds, parts = statistics.median(one.seconds for one in some), [one.share for one in some]
        print(
            f"{way:<14}{statistics.median(rates):>10.1f}{min(rates):>8.1f}{max(rates):>8.1f}{seconds:>9.1f}"
            f"{statistics.median(parts):>12.2%}{min(parts):>9.2%}{max(parts):>9.2%}"
        )
    for what, of in (("rate", "rate"), ("share", "share of the processors")):
        pairs = zip(figures["training_run"], figures["mpirun"], strict=True)
        ratio = statistics.median(getattr(ours, what) / getattr(plain, what) for ours, plain in pairs)
        print(f"training_run has {ratio:.4f} of the {of} of plain mpirun (median of the turns).")


if __name__ == "__main__":
    main()
