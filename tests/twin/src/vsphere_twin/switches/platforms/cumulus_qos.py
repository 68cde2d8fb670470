"""Treatment of packets by a Cumulus switch: presets first, manual settings on top."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..treatment import Marking, Treatment
from .cumulus_schema import renamed
from .cumulus_tree import lookup

DEFAULT_MTU = 9216
MIN_BYTES, MAX_BYTES, PROBABILITY = 150000, 1500000, 100
TRUST = {"l2": "pcp", "l3": "dscp", "both": "both", "port": "none"}
# By ASIC: hardware rounds thresholds of ECN up to its own steps, which the view of a port shows.
STEP_BYTES = {"MSN2700": 96, "MSN3700": 144, "MSN4600C": 9216, "SN5600": 12288}
# lossy-multi-tc (Spectrum-4 on): priorities by DSCP and shares by class, as CumulusNetworks/docs 5.14 shows them.
TRIMMED = {1: (1, 2), 2: (3, 4), 3: (5, 6), 4: range(11, 41)}
TRIMMED_SHARES = (4, 8, 18, 22, 22, 22, 4, 0)


@dataclass
class Qos:
    """The settings in force at a port, or of the whole switch."""

    roce: str = ""  # the mode, or nothing
    trust: str = "l2"
    priorities: list = field(default_factory=lambda: [dscp >> 3 for dscp in range(64)])
    queues: list = field(default_factory=lambda: list(range(8)))
    pfc: set = field(default_factory=set)
    rx: bool = False
    tx: bool = False
    cable: int = 100
    ecn: dict = field(default_factory=dict)  # by traffic class: {"ecn", "red", "min", "max", "probability"}
    strict: set = field(default_factory=set)
    shares: dict = field(default_factory=dict)
    pools: dict = field(default_factory=dict)  # name: (percent, [priorities])
    watchdog: bool = False
    pause: dict = field(default_factory=dict)
    exceptions: list = field(default_factory=list)

    @property
    def lossless(self):
        """Priorities that have buffers of a lossless pool."""
        return {
            int(priority)
            for name, (percent, priorities) in self.pools.items()
            if name in ("roce-lossless", "default-lossless") and percent
            for priority in priorities
        } & self.pfc


def mode_of(applied, version):
    """The RoCE mode in force, or nothing."""
    roce = lookup(applied, ("qos", "roce"))
    if roce is None:
        return ""
    key, off = ("state", "disabled") if renamed(version) else ("enable", "off")
    return "" if roce.get(key) == off else roce.get("mode", "lossless")


def effective(applied, version, port=None, dead=frozenset()):
    """Return the settings of a port, or with the profiles of all ports; dead features were never programmed."""
    qos = _preset(mode_of(applied, version))
    if "trust" in dead:
        qos.trust, qos.priorities = "l2", Qos().priorities
    preset = _preset(qos.roce)
    tree = applied.get("qos", {})
    chosen = {
        kind: lookup(applied, ("interface", port, "qos", kind, "profile"), "default-global")
        for kind in ("mapping", "pfc", "congestion-control", "egress-scheduler")
    }
    roce = tree.get("roce", {})
    qos.cable = roce.get("cable-length", 100) if qos.roce else 100
    _map(qos, tree.get("mapping", {}).get(chosen["mapping"], {}))
    for priority, one in lookup(tree, ("egress-queue-mapping", "default-global", "switch-priority"), {}).items():
        qos.queues[int(priority)] = one.get("traffic-class", qos.queues[int(priority)])
    _flow(qos, tree.get("pfc", {}).get(chosen["pfc"], {}))
    _mark(qos, lookup(tree, ("congestion-control", chosen["congestion-control"], "traffic-class"), {}))
    _schedule(qos, lookup(tree, ("egress-scheduler", chosen["egress-scheduler"], "traffic-class"), {}))
    _pool(qos, tree.get("traffic-pool", {}))
    state = lookup(applied, ("interface", port, "qos", "pfc-watchdog"))
    qos.watchdog = state is not None and state.get("state", "enable") == "enable" and "watchdog" not in dead
    link_pause = lookup(applied, ("interface", port, "qos", "link-pause", "profile"))
    qos.pause = tree.get("link-pause", {}).get(link_pause, {}) if link_pause else {}
    if "trust" in dead:
        qos.trust, qos.priorities = "l2", Qos().priorities
    if "pfc" in dead:
        qos.pfc, qos.rx, qos.tx = set(), False, False
    if "ecn" in dead:
        qos.ecn = {}
    if qos.roce:
        qos.exceptions = _exceptions(qos, preset)
    return qos


def _preset(mode):
    qos = Qos(roce=mode)
    qos.ecn = {0: _ecn()}
    qos.shares = dict.fromkeys(range(8), 12)
    qos.pools = {"default-lossy": (100, [str(number) for number in range(8)])}
    if mode == "lossy-multi-tc":
        qos.trust = "both"
        qos.priorities = [0] * 64
        for priority, dscps in TRIMMED.items():
            for dscp in dscps:
                qos.priorities[dscp] = priority
        qos.ecn = {number: _ecn(163 * 1024, 234 * 1024, 5) for number in (1, 2, 3)}
        qos.shares = dict(enumerate(TRIMMED_SHARES))
    elif mode:
        qos.trust = "both"
        qos.queues = [0, 0, 0, 3, 0, 0, 6, 0]
        qos.strict, qos.shares = {6}, {0: 50, 3: 50}
        qos.ecn = {0: _ecn(), 3: _ecn()}
        qos.pools["default-lossy"] = (50, ["0", "1", "2", "4", "5", "6", "7"])
        qos.pools["roce-lossy" if mode == "lossy" else "roce-lossless"] = (50, ["3"])
        if mode != "lossy":
            qos.pfc, qos.rx, qos.tx = {3}, True, True
    return qos


def _ecn(least=MIN_BYTES, most=MAX_BYTES, probability=PROBABILITY):
    return {"ecn": "enable", "red": "disable", "min": least, "max": most, "probability": probability}


def _map(qos, profile):
    qos.trust = profile.get("trust", qos.trust)
    for dscp, one in profile.get("dscp", {}).items():
        qos.priorities[int(dscp)] = one.get("switch-priority", qos.priorities[int(dscp)])
    if qos.trust == "port":
        qos.priorities = [profile.get("port-default-sp", 0)] * 64


def _flow(qos, profile):
    if profile.get("switch-priority"):
        qos.pfc = {int(priority) for priority in profile["switch-priority"]}
    if "tx" in profile:
        qos.tx = profile["tx"] == "enable"
    if "rx" in profile:
        qos.rx = profile["rx"] == "enable"
    qos.cable = profile.get("cable-length", qos.cable)


def _mark(qos, classes):
    # Without RoCE, named classes replace the default one; with it they change the preset.
    if classes and not qos.roce:
        qos.ecn = {}
    for number, one in classes.items():
        old = qos.ecn.get(int(number), _ecn())
        qos.ecn[int(number)] = {
            "ecn": one.get("ecn", old["ecn"]),
            "red": one.get("red", old["red"]),
            "min": one.get("min-threshold", old["min"]),
            "max": one.get("max-threshold", old["max"]),
            "probability": one.get("probability", old["probability"]),
        }


def _schedule(qos, classes):
    for number, one in classes.items():
        if one.get("mode") == "strict":
            qos.strict.add(int(number))
            qos.shares.pop(int(number), None)
        elif one.get("mode") == "dwrr" or "bw-percent" in one:
            qos.strict.discard(int(number))
            qos.shares[int(number)] = one.get("bw-percent", qos.shares.get(int(number), 0))


def _pool(qos, pools):
    for name, one in pools.items():
        percent, priorities = qos.pools.get(name, (0, []))
        qos.pools[name] = (one.get("memory-percent", percent), list(one.get("switch-priority", priorities)))
    # The lossless pool follows the priorities of PFC, unless its own were named.
    for name in ("roce-lossless", "default-lossless"):
        if name in qos.pools and not pools.get(name, {}).get("switch-priority"):
            qos.pools[name] = (qos.pools[name][0], [str(priority) for priority in sorted(qos.pfc)])


def _exceptions(qos, preset):
    """Return the differences from the preset, in the form of the exception list."""
    found = []
    if qos.pfc != preset.pfc:
        wanted = ",".join(map(str, sorted(preset.pfc))) or "-"
        found.append(f"RoCE PFC Priority Mismatch.Expected pfc-priority: {wanted}.")
    if set(qos.ecn) != set(preset.ecn):
        found.append(f"Congestion Config TC Mismatch.Expected enabled-tc: {','.join(map(str, sorted(preset.ecn)))}.")
    if qos.queues != preset.queues:
        found.append("RoCE SP->TC mapping Mismatch.")
    if qos.trust != preset.trust:
        found.append("Trust mode Mismatch.Expected trust-mode: pcp,dscp.")
    return found


def treatment(applied, version, port, dead, speaks):
    """Return the treatment by the hardware of a port; speaks: whether LLDP runs."""
    qos = effective(applied, version, port, dead)
    own = lookup(applied, ("interface", port), {})
    word = "enabled" if renamed(version) else "on"
    return Treatment(
        trust=TRUST[qos.trust],
        priorities=tuple(qos.priorities),
        queues=tuple(qos.queues),
        groups=tuple(priority if priority in qos.pfc else 0 for priority in range(8)),
        pauses_sent=frozenset(qos.lossless if qos.tx else ()),
        pauses_heeded=frozenset(qos.pfc if qos.rx else ()),
        no_drop=frozenset(qos.lossless if qos.tx else ()),
        marking={
            number: Marking(one["min"], one["max"], one["probability"], one["ecn"] == "enable")
            for number, one in qos.ecn.items()
            if "enable" in (one["ecn"], one["red"])
        },
        strict=frozenset(qos.strict),
        shares=dict(qos.shares),
        mtu=DEFAULT_MTU if "mtu" in dead else lookup(own, ("link", "mtu"), DEFAULT_MTU),
        watchdog=qos.watchdog and bool(qos.pfc),
        pause_sent=qos.pause.get("tx") == "enable",
        pause_heeded=qos.pause.get("rx") == "enable",
        dcbx=speaks and lookup(own, ("lldp", "dcbx-pfc-tlv")) == word,
    )


def problems(applied, version, ports):
    """Return why a configuration cannot be applied: one sentence each."""
    qos = effective(applied, version)
    found = []
    total = sum(percent for percent, _priorities in qos.pools.values())
    if lookup(applied, ("qos", "traffic-pool")) and total > 100:
        found.append(f"qos.traffic-pool: the memory-percent of all pools together is {total}, more than 100.")
    claimed = [one for name, (_percent, some) in qos.pools.items() if name != "default-lossy" for one in some]
    for priority in sorted({one for one in claimed if claimed.count(one) > 1}):
        found.append(f"qos.traffic-pool: switch-priority {priority} is in more than one pool.")
    for name in _profiles(applied, "congestion-control"):
        for number, one in lookup(applied, ("qos", "congestion-control", name, "traffic-class"), {}).items():
            if one.get("min-threshold", MIN_BYTES) > one.get("max-threshold", MAX_BYTES):
                found.append(
                    f"qos.congestion-control.{name}.traffic-class.{number}: min-threshold is above max-threshold."
                )
    for name in _profiles(applied, "egress-scheduler"):
        _schedule(
            scheduled := _preset(qos.roce), lookup(applied, ("qos", "egress-scheduler", name, "traffic-class"), {})
        )
        if (share := sum(scheduled.shares.values())) > 100:
            found.append(
                f"qos.egress-scheduler.{name}: the bw-percent of all classes together is {share}, more than 100."
            )
    for port, own in applied.get("interface", {}).items():
        for kind, one in own.get("qos", {}).items():
            profile = one.get("profile")
            if profile not in (None, "default-global") and profile not in _profiles(applied, kind):
                found.append(f"interface.{port}.qos.{kind}.profile: there is no profile {profile}.")
        here = effective(applied, version, port)
        if "pfc-watchdog" in own.get("qos", {}) and not here.pfc and not here.pause:
            found.append(f"interface.{port}.qos.pfc-watchdog: the port has neither PFC nor link pause.")
        if "pfc-watchdog" in own.get("qos", {}) and port not in ports:
            found.append(f"interface.{port}.qos.pfc-watchdog: it is for physical ports only.")
        if here.pause and here.pfc:
            found.append(f"interface.{port}.qos.link-pause: link pause and PFC cannot be on the same port.")
    return found


def _profiles(applied, kind):
    return lookup(applied, ("qos", kind), {})
