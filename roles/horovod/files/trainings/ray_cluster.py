"""A Ray cluster in the containers of a run: one node for each container, a job on the head, ranks of a training.

head and worker start a node and wait: the head until its job has ended, a worker until the head is gone. ranks is the
driver of a job that starts a training with the environment of torchrun, one actor of Ray for each rank.
"""

from __future__ import annotations

import argparse
import os
import queue
import shlex
import socket
import subprocess
import sys
import threading
import time

import engines

FAILED = 3
POLL_S, CONNECT_S = 1.0, 5.0


def main(arguments):
    """The exit status."""
    own, _dashes, command = _split(arguments)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("role", choices=("head", "worker", "ranks"))
    parser.add_argument("--address", default="", help="host and port of the head")
    parser.add_argument("--start", default="", help="command that starts the node")
    parser.add_argument("--nodes", type=int, default=1, help="nodes for which the head waits")
    parser.add_argument("--wait", type=int, default=120, help="seconds for which it waits")
    parser.add_argument("--slots", default="", help="address=ranks of each node, with commas")
    parser.add_argument("--port", type=int, default=29500, help="port of rank 0 for torch.distributed")
    options = parser.parse_args(own)
    return {"head": head, "worker": worker, "ranks": ranks}[options.role](options, command)


def _split(words):
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at : at + 1], words[at + 1 :]


def head(options, command):
    """Start the head, wait for the other nodes, run the job, stop."""
    begun = subprocess.call(shlex.split(options.start))
    if begun:
        engines.tell(f"The head of Ray did not start: ray start ended with {begun}.")
        return begun
    try:
        found = wait_for(options)
        if found < options.nodes:
            engines.tell(f"Ray has {found} of {options.nodes} nodes after {options.wait} seconds.")
            return FAILED
        return subprocess.call(command)
    finally:
        stop()


def wait_for(options):
    """The number of nodes that have joined, at most those that are waited for."""
    counting = (
        "import ray,sys; ray.init(address=sys.argv[1], log_to_driver=False, logging_level='ERROR'); "
        "print('nodes', sum(1 for one in ray.nodes() if one['Alive']))"
    )
    found, until = 0, time.monotonic() + options.wait
    while True:
        asked = subprocess.run(
            [sys.executable, "-c", counting, options.address], stdout=subprocess.PIPE, text=True, check=False
        )
        told = [line.split()[1] for line in asked.stdout.splitlines() if line.startswith("nodes ")]
        found = int(told[0]) if told else found
        if found >= options.nodes or time.monotonic() > until:
            return found
        time.sleep(POLL_S)


def reaches(address):
    """Whether the head accepts connections."""
    host, _colon, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), CONNECT_S):
            return True
    except OSError:
        return False


def worker(options, _command):
    """Start a node once the head is there; end with the head."""
    until = time.monotonic() + options.wait
    while not reaches(options.address):
        if time.monotonic() > until:
            engines.tell(f"The head of Ray does not answer at {options.address} after {options.wait} seconds.")
            return FAILED
        time.sleep(POLL_S)
    # The head accepts connections before nodes can join.
    while True:
        begun = subprocess.call(shlex.split(options.start))
        if not begun or time.monotonic() > until or not reaches(options.address):
            break
        stop()
        time.sleep(POLL_S)
    if begun:
        engines.tell(f"The node did not start: ray start ended with {begun}.")
        return begun
    while reaches(options.address):
        time.sleep(2 * POLL_S)
    stop()
    return 0


def stop():
    """Stop the node in this container."""
    subprocess.call(["ray", "stop", "--force"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def places_of(slots):
    """[(address, rank, local rank, ranks there)] of 10.0.0.1=2,10.0.0.2=1."""
    found = []
    for one in slots.split(","):
        address, _equals, count = one.partition("=")
        found += [(address, len(found) + number, number, int(count)) for number in range(int(count))]
    return found


def environment_of(place, size, master, port):
    """What torchrun would give this rank."""
    _address, rank, local_rank, here = place
    named = {"RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": local_rank, "LOCAL_WORLD_SIZE": here}
    return {**{name: str(value) for name, value in named.items()}, "MASTER_ADDR": master, "MASTER_PORT": str(port)}


class Rank:
    """One rank of a training, as an actor of Ray."""

    def __init__(self, environment, argv):
        whole = dict(os.environ)
        # Ray hides the GPUs from an actor that reserves none; the rank takes its own by its local rank.
        whole.pop("CUDA_VISIBLE_DEVICES", None)
        whole.update(environment)
        self._lines = queue.Queue()
        self._process = subprocess.Popen(argv, env=whole, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))

    def read(self):
        """(new lines, exit status or None)."""
        status = self._process.poll()
        if status is not None:
            self._reader.join()
        lines = []
        while not self._lines.empty():
            lines.append(self._lines.get())
        return lines, status


def ranks(options, command):
    """Start the ranks on their nodes and print their lines, each with its rank as torchrun does."""
    import ray

    ray.init(address="auto", log_to_driver=False, logging_level="ERROR")
    places = places_of(options.slots)
    made = ray.remote(num_cpus=0, max_restarts=0)(Rank)
    actors = {}
    for place in places:
        environment = environment_of(place, len(places), places[0][0], options.port)
        actor = made.options(resources={f"node:{place[0]}": 0.001}).remote(environment, command)
        actors[place[1]] = (place[0], actor)
    while actors:
        for rank, (address, actor) in sorted(actors.items()):
            try:
                lines, status = ray.get(actor.read.remote())
            except ray.exceptions.RayError as problem:
                engines.tell(f"Ray lost rank {rank} on {address}: {type(problem).__name__}")
                return FAILED
            for line in lines:
                engines.tell(f"[default{rank}]:{line}")
            if status:
                engines.tell(f"Rank {rank} on {address} ended with status {status}")
                return FAILED
            if status == 0:
                del actors[rank]
        time.sleep(POLL_S / 2)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
