"""A Ray cluster in the containers of a run: one node for each container, a job on the head, ranks of a training.

head and worker start a node and wait: the head until its job has ended, a worker until the head is gone. ranks is the
driver of a job that starts a training with the environment of torchrun, one actor of Ray for each rank.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import queue
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time

import engines

FAILED, HANGS = 3, 124
POLL_S, CONNECT_S, LEAST_START_S = 1.0, 5.0, 60
SERVER = "gcs_server"


def main(arguments):
    """The exit status."""
    own, _dashes, command = _split(arguments)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("role", choices=("head", "worker", "ranks"))
    parser.add_argument("--address", default="", help="host and port of the head")
    # The last port that the head opens: a node that starts earlier may wait for ever.
    parser.add_argument("--head-node", default="", help="host and port of the node manager of the head")
    parser.add_argument("--start", default="", help="command that starts the node")
    parser.add_argument("--nodes", default="", help="addresses of the nodes for which the head waits, with commas")
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
    until = time.monotonic() + options.wait
    while True:
        begun = start_node(options.start, max(LEAST_START_S, options.wait / 4))
        if begun != HANGS or time.monotonic() > until:
            break
        stop()
    if begun:
        engines.report(f"The head of Ray did not start: ray start ended with {begun}.")
        return begun
    try:
        nodes = options.nodes.split(",")
        joined = wait_for(options)
        missing = [node for node in nodes if node not in joined]
        if missing:
            found = f"{len(nodes) - len(missing)} of {len(nodes)} nodes after {options.wait} seconds"
            engines.report(f"Ray has {found}. {', '.join(missing)} did not join.")
            return FAILED
        return subprocess.call(command)
    finally:
        end()


# Its arguments: address of the head, seconds to wait, addresses of the nodes. It loads Ray once, which takes seconds.
WAITING = """
import sys, time, ray
address, wait_s, nodes = sys.argv[1], float(sys.argv[2]), set(sys.argv[3].split(","))
ray.init(address=address, log_to_driver=False, logging_level="ERROR")
until = time.monotonic() + wait_s
while True:
    joined = {one["NodeManagerAddress"] for one in ray.nodes() if one["Alive"]}
    print("nodes", *sorted(joined), flush=True)
    if nodes <= joined or time.monotonic() > until:
        break
    time.sleep(1)
"""


def wait_for(options):
    """The addresses of the nodes that have joined."""
    argv = [sys.executable, "-c", WAITING, options.address, str(options.wait), options.nodes]
    asked = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)
    reported = [line.split()[1:] for line in asked.stdout.splitlines() if line.startswith("nodes")]
    return reported[-1] if reported else []


def reaches(address):
    """Whether the head accepts connections."""
    host, _colon, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), CONNECT_S):
            return True
    except OSError:
        return False


def worker(options, _command):
    """Start a node once the head is complete; end with the head."""
    for address in (options.address, options.head_node):
        until = time.monotonic() + options.wait
        while not reaches(address):
            if time.monotonic() > until:
                engines.report(f"The head of Ray does not answer at {address} after {options.wait} seconds.")
                return FAILED
            time.sleep(POLL_S)
    until = time.monotonic() + options.wait
    while True:
        begun = start_node(options.start, max(LEAST_START_S, options.wait / 4))
        if not begun or time.monotonic() > until:
            break
        stop()
        time.sleep(POLL_S)
    if begun:
        engines.report(f"The node did not start: ray start ended with {begun}.")
        return begun
    while reaches(options.address):
        time.sleep(2 * POLL_S)
    return 0


def start_node(command, limit_s):
    """The exit status of ray start.

    On overloaded guests it hangs: the raylet of Ray 2.60.0 ends if its agents do not start within about 15 seconds.
    """
    try:
        return subprocess.call(shlex.split(command), timeout=limit_s)
    except subprocess.TimeoutExpired:
        engines.report(f"ray start did not end within {round(limit_s)} seconds.")
        return HANGS


def end():
    """Kill the server of the head, for whose end the other guests wait. All else ends with the containers."""
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if entry.isdigit() and _name_of(entry) == SERVER:
                os.kill(int(entry), signal.SIGKILL)


def _name_of(process):
    with open(f"/proc/{process}/comm", encoding="utf-8") as file:
        return file.read().strip()


def stop():
    """Stop the node in this container, so that another one can start. It takes Ray several seconds."""
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
                engines.report(f"Ray lost rank {rank} on {address}: {type(problem).__name__}")
                return FAILED
            for line in lines:
                engines.report(f"[default{rank}]:{line}")
            if status:
                engines.report(f"Rank {rank} on {address} ended with status {status}")
                return FAILED
            if status == 0:
                del actors[rank]
        time.sleep(POLL_S / 2)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
