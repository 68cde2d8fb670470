"""Licences of guests: the token of a licence server, its use by nvidia-gridd, and its lifetime."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time

from . import drivers, memory
from .calls import Answer, program

SERVER = "dls.lab.example"
LEASE_S = 24 * 3600
CLOCK_S = 15 * 60  # a clock that is wrong by more gets no licence [unsure: how much]
ANSWER_S = 2.0  # how long the licence server takes; in life tens of seconds
UNRESTRICTED_S = 20 * 60  # how long an unlicensed vGPU runs at full speed [unsure: depends on the release]
DEFAULT_FEATURE = 0
PRODUCTS = {"1": "", "2": "NVIDIA RTX Virtual Workstation", "4": "NVIDIA Virtual Compute Server"}
BY_SERIES = {
    "c": "NVIDIA Virtual Compute Server",
    "q": "NVIDIA RTX Virtual Workstation",
    "b": "NVIDIA Virtual PC",
    "a": "NVIDIA Virtual Applications",
}
_SECRET = b"the licence server of the lab"
NAME = "client_configuration_token_11-22-2026-06-00-00.tok"


def token(server=SERVER, lives_s=12 * 365 * 24 * 3600, secret=_SECRET, now=None):
    """A client configuration token: three parts of base64 with dots between, signed by the licence server."""
    now = time.time() if now is None else now
    head = {"typ": "JWT", "alg": "HS256"}
    body = {
        "jti": hashlib.sha256(server.encode()).hexdigest()[:32],
        "iss": "NLS Service Instance",
        "aud": "NLS Licensed Client",
        "iat": int(now),
        "nbf": int(now),
        "exp": int(now + lives_s),
        "service_instance_configuration": {"nls_service_instance_ref": server, "svc_port_set_list": [443, 80]},
    }
    signed = ".".join(_packed(json.dumps(one, sort_keys=True).encode()) for one in (head, body))
    return f"{signed}.{_packed(hmac.new(secret, signed.encode(), hashlib.sha256).digest())}"


def problem_of(text, now):
    """Return why the client refuses a token, or None."""
    parts = text.strip().split(".")
    if len(parts) != 3:
        return "Failed to parse client configuration token"
    wanted = _packed(hmac.new(_SECRET, ".".join(parts[:2]).encode(), hashlib.sha256).digest())
    if not hmac.compare_digest(wanted, parts[2]):
        return "Failed to verify the signature of the client configuration token"
    body = json.loads(_unpacked(parts[1]))
    if not body["nbf"] - CLOCK_S <= now <= body["exp"]:
        return "The client configuration token is not valid at this time. Check the system clock"
    return None


def server_of(text):
    """The licence server that a token names."""
    return json.loads(_unpacked(text.strip().split(".")[1]))["service_instance_configuration"][
        "nls_service_instance_ref"
    ]


def valid(state, now):
    """The lease of a guest, unless it ran out."""
    return state.lease if state.lease is not None and state.lease.expires > now else None


def needs(card):
    """Return whether a GPU works without a licence only for a while: every vGPU does."""
    return card.profile is not None


def status(view, card):
    """Return (product, nvidia-smi's text on its licence)."""
    product = _product(card, "1") if view.lease is None else view.lease.product
    if view.lease is not None:
        return product, f"Licensed (Expiry: {stamp(view.lease.expires)})"
    if not needs(card):
        return "NVIDIA Virtual Applications", "Unlicensed (Unrestricted)"
    return product, f"Unlicensed ({'Unrestricted' if view.uptime_s < UNRESTRICTED_S else 'Restricted'})"


def stamp(moment):
    """2025-3-19 7:29:4 GMT: without zeros."""
    t = time.gmtime(moment)
    return f"{t.tm_year}-{t.tm_mon}-{t.tm_mday} {t.tm_hour}:{t.tm_min}:{t.tm_sec} GMT"


@program("nvidia-gridd")
def gridd(world, vm, call):
    """The service: read the configuration and the token when it starts, ask for a licence, keep it."""
    state, guest = memory.of(vm), call.guest
    if call.words == ["--stop"]:
        state.lease = None
        return Answer()
    if guest.uid != 0:
        return Answer(stderr="Failed to lock PID file: Permission denied\n", status=1)
    if call.again is None:
        return _start(vm, state, guest)
    return _go_on(state, guest, json.loads(call.again))


def _start(vm, state, guest):
    state.lease = None
    lines = ["Configuration parameter ( ServerAddress  ) not set"]
    settings = configuration(guest.gridd_conf)
    cards = drivers.usable(vm, guest)
    if not cards:
        lines.append("Failed to initialise RM client")
        return _wait(lines, {"stage": "idle"})
    lines += ["vGPU Software package (0)", "Ignore service provider and node-locked licensing"]
    feature = settings.get("FeatureType", str(DEFAULT_FEATURE))
    if feature not in ("0", "1", "2", "4"):
        lines.append(f"Invalid value for configuration parameter FeatureType: {feature}")
        return _wait(lines, {"stage": "idle"})
    product = _product(cards[0], feature)
    # A vGPU reports its required licence; a whole GPU requires none unless it is configured to.
    if not product:
        lines.append("Licensing is not required for this configuration (FeatureType 0)")
        return _wait(lines, {"stage": "idle"})
    if not guest.tokens:
        lines.append("Client configuration token is not found. NLS not initialized")
        return _wait(lines, {"stage": "idle"})
    newest = guest.tokens[-1]
    why = "Failed to read client configuration token: wrong permissions" if newest["mode"] & 0o444 != 0o444 else None
    why = why or problem_of(newest["text"], guest.time)
    if why:
        lines.append(f"Error: {why}. NLS not initialized")
        return _wait(lines, {"stage": "idle"})
    server = server_of(newest["text"])
    lines += ["NLS initialized", f"Acquiring license. (Info: {server}; {product})"]
    return _wait(lines, {"stage": "asked", "server": server, "product": product}, ANSWER_S)


def _go_on(state, guest, before):
    if before["stage"] == "idle":
        return _wait([], before, 60.0)
    server, product = before["server"], before["product"]
    info = f"(Info: {server}, {product}"
    if server != SERVER:
        failure = f"Failed to acquire license from {server} {info} - Error: Unable to reach the license server)"
        return _wait([failure], before, 30.0)
    if abs(guest.time - time.time()) > CLOCK_S:
        line = f"Failed to acquire license from {server} {info} - Error: The system clock differs from the server's)"
        return _wait([line], before, 30.0)
    first = state.lease is None
    state.lease = memory.Lease(product, server, time.time() + LEASE_S)
    word = "acquired" if first else "renewed"
    lines = [f"License {word} successfully. {info}; Expiry: {stamp(state.lease.expires)})"] if first else []
    return _wait(lines, before, 600.0)


def configuration(text):
    """{key: value} of gridd.conf; comments begin with #."""
    found = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.lstrip().startswith("#"):
            found[key.strip()] = value.strip().strip('"')
    return found


def _product(card, feature):
    if card.profile is not None:
        # The type of a vGPU decides; only 2 and 4 can ask for something else, which the type does not get.
        return BY_SERIES[card.profile.series]
    return PRODUCTS.get(feature, "")


def _wait(lines, stage, seconds=60.0):
    return Answer("".join(f"{line}\n" for line in lines), again_s=seconds, again=json.dumps(stage))


def _packed(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unpacked(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
