"""Cisco NX-OS: the lines of policy maps and of their classes."""

from __future__ import annotations

from .nxos_rules import DEFAULTS, PREDEFINED, Refusal, on, ranges


@on("config", "policy-map type kind=qos|network-qos|queuing <name:WORD>", "policy-map <name:WORD>")
def policy_map(cli, name, kind="qos"):
    if name in DEFAULTS.values():
        raise Refusal("ERROR: System defined policy-map cannot be modified")
    section = cli.config.section(("policy-map", kind, name), f"policy-map type {kind} {name}")
    short = {"network-qos": "nqos", "queuing": "que"}.get(kind, kind)
    cli.enter(f"pmap-{short}", [section], f"pmap-{short}")


@on("config", "no policy-map [ type kind=qos|network-qos|queuing ] <name:WORD>")
def no_policy_map(cli, name, kind="qos"):
    if ("policy-map", kind, name) not in cli.config.sections:
        raise Refusal(f"ERROR: Policy-map {name} does not exist")
    if cli.users_of(kind, name):
        raise Refusal("ERROR: Policy-map is being used by a service-policy and cannot be deleted")
    cli.config.remove(("policy-map", kind, name))


def _enter_class(cli, kind, name, no, mode):
    if name not in PREDEFINED[kind] and ("class-map", kind, name) not in cli.config.sections:
        raise Refusal(f"ERROR: Class-map {name} does not exist")
    words = f"class {name}" if kind == "qos" else f"class type {kind} {name}"
    if no:
        for one in cli.targets:
            one.remove(("class", name))
        return
    cli.enter(mode, [one.section(("class", name), words) for one in cli.targets], mode)


@on("pmap-qos", "?no class [ type qos ] <name:WORD>")
def qos_class(cli, name, no=None):
    _enter_class(cli, "qos", name, no, "pmap-c-qos")


@on("pmap-nqos", "?no class type network-qos <name:WORD>")
def network_class(cli, name, no=None):
    _enter_class(cli, "network-qos", name, no, "pmap-nqos-c")


@on("pmap-que", "?no class type queuing <name:WORD>")
def queuing_class(cli, name, no=None):
    _enter_class(cli, "queuing", name, no, "pmap-c-que")


@on("pmap-c-qos", "?no set qos-group <number:0-7>", "?no set dscp <dscp:dscps>", "?no set cos <cos:0-7>")
def set_group(cli, number=None, dscp=None, cos=None, no=None):
    key, value = ("group", number) if number is not None else ("dscp", dscp[0]) if dscp else ("cos", cos)
    word = {"group": "qos-group"}.get(key, key)
    for one in cli.targets:
        one.drop(key) if no else one.set(key, f"set {word} {value}", value)


@on("pmap-nqos-c", "pause pfc-cos <coses:numbers>")
def pause(cli, coses):
    for one in cli.targets:
        one.set("pause", f"pause pfc-cos {ranges(coses)}", frozenset(coses))
    cli.check_lossless()


@on(
    "pmap-nqos-c",
    "pause buffer-size <size:1-100000000> pause-threshold <xoff:1-100000000> "
    "resume-threshold <xon:1-100000000> pfc-cos <coses:numbers>",
)
def pause_with_buffer(cli, size, xoff, xon, coses):
    if size < 27456 or min(xoff, xon) < 12480:
        raise Refusal("ERROR: buffer-size has to be at least 27456 and thresholds at least 12480")
    words = f"pause buffer-size {size} pause-threshold {xoff} resume-threshold {xon} pfc-cos {ranges(coses)}"
    for one in cli.targets:
        one.set("pause", words, frozenset(coses))
    cli.check_lossless()


@on("pmap-nqos-c", "no pause [ <rest:LINE> ]")
def no_pause(cli, rest=None):
    for one in cli.targets:
        one.drop("pause")


@on("pmap-nqos-c", "mtu <number:1500-9216>", "no=no mtu [ <number:1500-9216> ]")
def class_mtu(cli, number=None, no=None):
    for one in cli.targets:
        one.drop("mtu") if no else one.set("mtu", f"mtu {number}", number)


@on("pmap-c-que", "priority [ level <level:1-7> ]", "no=no priority [ level <level:1-7> ]")
def priority(cli, level=1, no=None):
    for one in cli.targets:
        if not no and ("remaining" in one.lines or "bandwidth" in one.lines):
            raise Refusal("ERROR: priority and bandwidth cannot be configured in the same class")
        one.drop("priority") if no else one.set("priority", f"priority level {level}", level)


@on(
    "pmap-c-que",
    "bandwidth [ how=remaining ] percent <number:0-100>",
    "no=no bandwidth [ how=remaining ] percent [ <number:0-100> ]",
)
def bandwidth(cli, number=None, how=None, no=None):
    key = "remaining" if how else "bandwidth"
    for one in cli.targets:
        if no:
            one.drop(key)
            continue
        if "priority" in one.lines:
            raise Refusal("ERROR: priority and bandwidth cannot be configured in the same class")
        before = one.lines.get(key)
        one.set(key, f"bandwidth {'remaining ' if how else ''}percent {number}", number)
        if sum(cls.get(key, 0) for cls in cli.policy().kept("class").values()) > 100:
            one.set(key, *before) if before else one.drop(key)
            raise Refusal("ERROR: Total bandwidth of all classes exceeds 100 percent")


@on(
    "pmap-c-que",
    "random-detect minimum-threshold <low:0-52428> unit=bytes|kbytes|mbytes|packets maximum-threshold <high:0-52428>"
    " top=bytes|kbytes|mbytes|packets drop-probability <drop:0-100> weight <weight:0-15> [ ecn=ecn ]",
    "no=no random-detect [ <rest:LINE> ]",
)
def random_detect(cli, low=None, unit=None, high=None, top=None, drop=None, weight=None, ecn=None, no=None, rest=None):
    for one in cli.targets:
        if no:
            one.drop("wred")
            continue
        if low > high or unit != top:
            raise Refusal("ERROR: Minimum threshold should be less than maximum threshold")
        words = (
            f"random-detect minimum-threshold {low} {unit} maximum-threshold "
            f"{high} {top} drop-probability {drop} weight {weight}"
        )
        one.set("wred", f"{words}{' ecn' if ecn else ''}", (low, high, unit, drop, bool(ecn)))


@on(
    "pmap-c-que",
    "?no queue-limit <number:1-100000000> [ unit=bytes|kbytes|mbytes ]",
    "?no queue-limit dynamic <alpha:0-10>",
)
def queue_limit(cli, number=None, unit="bytes", alpha=None, no=None):
    words = f"queue-limit dynamic {alpha}" if alpha is not None else f"queue-limit {number} {unit}"
    for one in cli.targets:
        one.drop("limit") if no else one.set("limit", words)
