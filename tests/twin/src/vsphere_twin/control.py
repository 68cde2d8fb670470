"""Control API: requests of tests and rehearsals to a running twin. It belongs to no simulated product."""

from __future__ import annotations

import inspect
import json
import secrets
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, HTTPServer

from .https import Threads
from .model import data_paths, ends, gpu_errors
from .model.bmc_faults import BmcFaults
from .model.command_faults import CommandFaults
from .model.faults import FaultPlan
from .switches import cabling
from .switches.control import SwitchControl
from .switches.model import SwitchFaults

VERBS = (
    "clear",
    "close_after",
    "drop_sessions",
    "fail_tasks",
    "guest_without_address",
    "guest_without_tools",
    "hang_boot",
    "latency",
    "lose_driver",
    "refuse",
    "slow_boot",
    "unavailable",
)
BMC_VERBS = ("bmc_forget", "bmc_latency", "bmc_reject", "bmc_unavailable")
COMMAND_VERBS = ("drop_command", "fail_command")
SWITCH_FAULT_VERBS = ("drop_switch_command", "fail_switch_command")
SWITCH_VERBS = (
    "drop_switch",
    "fill_flash",
    "kill_feature",
    "link",
    "refuse_switch",
    "reload_switch",
)
HOST_VERBS = ("hang_boot", "lose_driver", "slow_boot")  # of VERBS
VM_PLANS = ("guest_without_address", "guest_without_tools")  # of VERBS
GUEST_VERBS = ("hang", "pull_plug")
VM_VERBS = ("gpu_error",)
OTHERS = ("drop_ssh", "reset_requests")
ALL = (*VERBS, *BMC_VERBS, *COMMAND_VERBS, *SWITCH_FAULT_VERBS, *SWITCH_VERBS, *GUEST_VERBS, *VM_VERBS, *OTHERS)


def described():
    """Return {target: [(verb, its arguments, its effect)]} of all faults."""
    vcenter = [verb for verb in VERBS if verb not in ("clear", *HOST_VERBS, *VM_PLANS)]
    groups = {
        "vCenter": [(verb, getattr(FaultPlan, verb)) for verb in vcenter],
        "a host": [(verb, getattr(FaultPlan, verb)) for verb in HOST_VERBS],
        "a BMC": [(verb, getattr(BmcFaults, verb)) for verb in BMC_VERBS],
        "the ESXi shell and esxcli": [
            *((verb, getattr(CommandFaults, verb)) for verb in COMMAND_VERBS),
            ("drop_ssh", Control._drop_ssh),
        ],
        "a switch": [
            *((verb, getattr(SwitchControl, verb)) for verb in SWITCH_VERBS),
            *((verb, getattr(SwitchFaults, verb)) for verb in SWITCH_FAULT_VERBS),
        ],
        "a VM": [
            *((verb, getattr(FaultPlan, verb)) for verb in VM_PLANS),
            *((verb, getattr(Control, f"_{verb}")) for verb in (*VM_VERBS, *GUEST_VERBS)),
        ],
        "all of it": [(verb, getattr(Control, f"_{verb}")) for verb in ("clear", "reset_requests")],
    }
    return {hit: [_described(*one) for one in verbs] for hit, verbs in groups.items()}


def _described(verb, function):
    _self, *parameters = inspect.signature(function).parameters.values()
    plain = (one.replace(annotation=one.empty) for one in parameters)
    return verb, ", ".join(str(one) for one in plain), inspect.getdoc(function).partition("\n")[0]


class Control:
    """Verbs that plant failures on demand, and reports on the server's requests."""

    def __init__(self, twin):
        self._twin = twin

    def do(self, verb, **options):
        """Carry out a verb by its name; ValueError for one that does not exist or does not take these options."""
        try:
            self._function(verb)(**options)
        except TypeError as problem:
            raise ValueError(f"{verb} cannot be asked for in this way: {problem}.") from problem

    def __getattr__(self, verb):
        if verb in ALL:
            return lambda **options: self.do(verb, **options)
        raise AttributeError(verb)

    def _function(self, verb):
        world = self._twin.world
        if verb in (*OTHERS, *GUEST_VERBS, *VM_VERBS, "clear"):
            return getattr(self, f"_{verb}")
        if verb in BMC_VERBS:
            return getattr(world.bmc_faults, verb)
        if verb in COMMAND_VERBS:
            return getattr(world.command_faults, verb)
        if verb in SWITCH_FAULT_VERBS:
            return getattr(world.switch_faults, verb)
        if verb in SWITCH_VERBS:
            return getattr(SwitchControl(world), verb)
        if verb in VERBS:
            return getattr(world.faults, verb)
        known = ", ".join(sorted(ALL))
        raise ValueError(f"There is no verb {verb}; these exist: {known}.")

    def _hang(self, vm, hanging: bool = True):
        """Freeze or resume everything in the guest of a VM."""
        self._twin.guest(vm).hang(hanging=hanging)

    def _pull_plug(self, vm):
        """The guest of a VM is gone at once, as when its host loses it."""
        self._twin.guest(vm).pull_plug()

    def _drop_ssh(self):
        """Close all SSH connections to hosts; new ones are accepted."""
        self._twin.drop_ssh()

    def _reset_requests(self):
        """The counters of requests begin at zero."""
        self._twin.requests.clear()

    def _clear(self):
        """Remove all planted failures; cables and hanging guests stay unchanged."""
        self._twin.world.faults.clear()
        self._twin.world.bmc_faults.clear()
        self._twin.world.command_faults.clear()
        SwitchControl(self._twin.world).clear()

    def _gpu_error(self, vm, number: int, gpu: int = 0):
        """The driver in a running VM sees an Xid of one of its GPUs."""
        world = self._twin.world
        with world.lock:
            found = next((one for one in world.of_kind("VirtualMachine") if one.name == vm), None)
            if found is None or found.power != "poweredOn":
                raise ValueError(f"There is no running VM {vm!r}.")
            gpu_errors.report(world, found, number, gpu)

    def data_paths(self, vm=None):
        """Return the network state of running VMs, or the one of this name, that vCenter does not know."""
        with self._twin.world.lock:
            return data_paths.look(self._twin.world, vm)

    def fabric(self):
        """Return the fate of RoCE packets between the cabled RDMA ports of all hosts; no switch knows all of it."""
        with self._twin.world.lock:
            return cabling.look(self._twin.world)

    def ways(self):
        """Return the measurements that guests would get between each other, in each direction, with the reasons."""
        with self._twin.world.lock:
            return ends.look(self._twin.world)

    def state(self):
        """Return the requests that the server has received so far."""
        with self._twin.world.lock:
            return {
                "requests": dict(self._twin.requests),
                "total": self._twin.requests.total(),
                "unserved": dict(self._twin.unserved),
                "sessions": [session.user for session in self._twin.sessions],
                "generation": self._twin.world.generation,
            }


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if not self._allowed():
            return
        place = urllib.parse.urlsplit(self.path)
        if place.path == "/data_paths":
            wanted = urllib.parse.parse_qs(place.query).get("vm", [None])[0]
            self._send(200, self.server.control.data_paths(wanted))
        elif place.path == "/fabric":
            self._send(200, self.server.control.fabric())
        elif place.path == "/ways":
            self._send(200, self.server.control.ways())
        else:
            self._send(200, self.server.control.state())

    def do_POST(self):
        if not self._allowed():
            return
        try:
            options = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            self.server.control.do(self.path.strip("/"), **options)
        except (ValueError, TypeError) as problem:
            self._send(400, {"error": str(problem)})
        else:
            self._send(200, self.server.control.state())

    def log_message(self, *args):
        """Log nothing: requests of the control API are no subject of the log."""

    def _allowed(self):
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if secrets.compare_digest(given.encode(), self.server.token.encode()):
            return True
        self._send(401, {"error": "The token in the Authorization header is not the one of this run."})
        return False

    def _send(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class ControlServer(Threads, HTTPServer):
    """The control API over HTTP on the loopback interface, for twins in another process."""

    def __init__(self, control, port=0):
        super().__init__(("127.0.0.1", port), _Handler)
        self.control = control
        self.token = secrets.token_urlsafe(24)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    def start(self):
        """Serve on a thread."""
        self._thread.start()

    def stop(self):
        """End the thread and free the port."""
        self.shutdown()
        self.server_close()
        self._thread.join()
