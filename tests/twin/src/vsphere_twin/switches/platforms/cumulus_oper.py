"""The operational tree of a Cumulus switch: the data of nv show and its JSON, under the paths of NVUE."""

from __future__ import annotations

from . import cumulus_qos
from .cumulus_tree import lookup

BINARY = ((1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB"))
WATCHED = ("OK", "0")


def size(number):
    """150000 as 146.48 KB, as nv writes sizes."""
    for unit, name in BINARY:
        if number >= unit:
            return f"{number / unit:.2f} {name}"
    return f"{number} Bytes"


def stepped(device, number):
    """A threshold as the ASIC holds it: rounded up to its steps."""
    step = cumulus_qos.STEP_BYTES.get(device.model, 144)
    return -(-number // step) * step


def listed(values):
    return ",".join(str(one) for one in sorted(values)) or "-"


def trusted(qos):
    return {"l2": "pcp", "l3": "dscp", "both": "pcp,dscp", "port": "port"}[qos.trust]


def weight(qos, number, strict, word):
    return strict if number in qos.strict else f"{word}-{qos.shares.get(number, 0)}%"


def roce(device):
    """nv show qos roce: the effective settings of the whole switch."""
    qos = device.qos()
    if not qos.roce:
        return {}
    tree = {
        "mode": qos.roce,
        "pfc": _flow(qos, ("enabled", "disabled")),
        "congestion-control": _marking(qos, "ECN", size),
        "trust": {"trust-mode": trusted(qos)},
        "prio-map": {
            str(priority): {
                "pcp": str(priority),
                "dscp": listed(dscp for dscp, one in enumerate(qos.priorities) if one == priority),
                "switch-prio": str(priority),
            }
            for priority in range(8)
        },
        "tc-map": {
            str(priority): {
                "switch-prio": str(priority),
                "traffic-class": str(qos.queues[priority]),
                "scheduler-weight": weight(qos, qos.queues[priority], "strict-priority", "DWRR"),
            }
            for priority in range(8)
        },
        "pool-map": pools(qos),
        "exception-list": {str(number): {"description": one} for number, one in enumerate(qos.exceptions, 1)},
    }
    if qos.roce != "lossy-multi-tc":
        tree["lldp-app-tlv"] = _application(qos)
    return tree


def pools(qos):
    """The pools of both directions, by their number."""
    single = qos.roce == "lossless-single-ipool"
    kept = sorted(qos.lossless)
    classes = {qos.queues[priority] for priority in kept}
    others = listed({qos.queues[priority] for priority in range(8)} - classes)
    percent = qos.pools["default-lossy"][0]
    everything = listed(range(8)) if single or not kept else listed(set(range(8)) - set(kept))
    rows = [("lossy-default-ingress", "100%" if single else f"{percent}%", everything, "-")]
    if kept and not single:
        rows.append(("roce-reserved-ingress", f"{100 - percent}%", listed(kept), "-"))
    rows.append(("lossy-default-egress", "100%" if single else f"{percent}%", "-", others))
    if kept:
        rows.append(("roce-reserved-egress", "inf", "-", listed(classes)))
    numbers = [0, 2, 3] if single else range(len(rows))
    return {
        str(number): {"name": name, "mode": "Dynamic", "size": room, "switch-priorities": some, "traffic-class": queues}
        for number, (name, room, some, queues) in zip(numbers, rows, strict=False)
    }


def port_roce(device, port):
    """nv show interface X qos roce status."""
    qos = device.qos(port)
    if not qos.roce:
        return {}

    def hard(number):
        return size(stepped(device, number))

    data = [priority for priority in range(8) if qos.priorities[26] == priority]
    tree = {
        "congestion-control": _marking(qos, "ecn, absolute", hard),
        "lldp-app-tlv": _application(qos),
        "pfc": _flow(qos, ("yes", "no"), cable=False),
        "trust": {"trust-mode": trusted(qos)},
        "mode": qos.roce,
        "prio-map": {
            "cnp": {"pcp": "6", "dscp": "48", "switch-prio": str(qos.priorities[48])},
            "roce": {"pcp": listed(data), "dscp": "26", "switch-prio": str(qos.priorities[26])},
        },
        "tc-map": {},
        "pool-map": {},
    }
    for name, dscp in (("cnp", 48), ("roce", 26)):
        priority = qos.priorities[dscp]
        queue = qos.queues[priority]
        tree["tc-map"][name] = {
            "switch-prio": str(priority),
            "traffic-class": str(queue),
            "scheduler-weight": weight(qos, queue, "strict priority", "dwrr"),
        }
    ids = {"lossy-default-ingress": "2", "roce-reserved-ingress": "3", "lossy-default-egress": "13"}
    for number, pool in enumerate(pools(qos).values()):
        tree["pool-map"][str(number)] = {
            "name": pool["name"],
            "mode": "DYNAMIC",
            "pool-id": ids.get(pool["name"], "14"),
            "switch-priorities": pool["switch-priorities"],
            "traffic-class": pool["traffic-class"],
            "size": pool["size"] if pool["size"] == "inf" else "15.16 MB",
            "current-usage": "0 Bytes",
            "max-usage": "0 Bytes",
        }
    return tree


def port_counters(device, port):
    """nv show interface X qos roce counters."""
    qos = device.qos(port)
    if not qos.roce:
        return {}
    count = device.switch.ports[port].counters
    data, notice = qos.priorities[26], qos.priorities[48]
    others = [priority for priority in range(8) if priority not in (data, notice)]

    def summed(what):
        return sum(count[f"{what}_{priority}"] for priority in others)

    usage = {"buffer-max-usage": "0 Bytes", "buffer-usage": "0 Bytes"}
    group = {"pg-max-usage": "0 Bytes", "pg-usage": "0 Bytes"}
    queue = {"tc-max-usage": "0 Bytes", "tc-usage": "0 Bytes"}
    return {
        "rx-stats": {
            "rx-non-roce-stats": {
                **usage,
                "no-buffer-discard": summed("rx_drops"),
                "non-roce-bytes": size(summed("rx_bytes")),
                "non-roce-packets": summed("rx_packets"),
                **group,
            },
            "rx-pfc-stats": {
                "pause-duration": count[f"rx_pause_us_{data}"],
                "pause-packets": count[f"rx_pause_{data}"],
            },
            "rx-roce-stats": {
                **usage,
                "no-buffer-discard": count[f"rx_drops_{data}"],
                **group,
                "roce-bytes": size(count[f"rx_bytes_{data}"]),
                "roce-packets": count[f"rx_packets_{data}"],
            },
        },
        "tx-stats": {
            "tx-cnp-stats": {
                **usage,
                "cnp-bytes": size(count[f"tx_bytes_{notice}"]),
                "cnp-packets": count[f"tx_packets_{notice}"],
                **queue,
                "unicast-no-buffer-discard": count[f"tx_drops_{notice}"],
            },
            "tx-ecn-stats": {"ecn-marked-packets": count[f"ecn_marked_{qos.queues[data]}"]},
            "tx-pfc-stats": {
                "pause-duration": count[f"tx_pause_us_{data}"],
                "pause-packets": count[f"tx_pause_{data}"],
            },
            "tx-roce-stats": {
                **usage,
                "roce-bytes": size(count[f"tx_bytes_{data}"]),
                "roce-packets": count[f"tx_packets_{data}"],
                **queue,
                "unicast-no-buffer-discard": count[f"tx_drops_{data}"],
            },
        },
    }


def profile(device, kind, name):
    """nv show qos KIND PROFILE, as it is in force."""
    qos = device.qos()
    if kind == "pfc":

        def state(on):
            return "enable" if on else "disable"

        own = lookup(device.applied, ("qos", "pfc", name), {})
        return {
            "cable-length": qos.cable,
            "port-buffer": f"{own.get('port-buffer', 25000)} B",
            "rx": state(qos.rx),
            "switch-priority": {str(priority): {} for priority in sorted(qos.pfc)},
            "tx": state(qos.tx),
            "xoff-threshold": f"{own.get('xoff-threshold', 10000)} B",
            "xon-threshold": f"{own.get('xon-threshold', 2000)} B",
        }
    if kind == "congestion-control":
        return {"traffic-class": {str(number): _class(one) for number, one in sorted(qos.ecn.items())}}
    if kind == "egress-queue-mapping":
        return {"switch-priority": {str(priority): {"traffic-class": one} for priority, one in enumerate(qos.queues)}}
    if kind == "egress-scheduler":
        return {
            "traffic-class": {
                str(number): {
                    "bw-percent": qos.shares.get(number, 0),
                    "mode": "strict" if number in qos.strict else "dwrr",
                }
                for number in range(8)
            }
        }
    return {
        "dscp": {str(dscp): {"switch-priority": one} for dscp, one in enumerate(qos.priorities)},
        "pcp": {str(pcp): {"switch-priority": pcp} for pcp in range(8)},
        "port-default-sp": 0,
        "trust": qos.trust,
    }


def watchdog(device, port):
    """nv show interface X qos pfc-watchdog."""
    on = device.qos(port).watchdog
    return {
        "state": "enabled" if on else "disabled",
        "status": {
            str(number): {"status": WATCHED[0], "deadlock-count": WATCHED[1]} for number in range(8 if on else 0)
        },
    }


def link(device, port):
    """nv show interface X: the report on every port."""
    one = device.switch.ports[port]
    own = lookup(device.applied, ("interface", port), {})
    down = "down" in lookup(own, ("link", "state"), {})
    mtu = cumulus_qos.DEFAULT_MTU if "mtu" in device.switch.dead_features else lookup(own, ("link", "mtu"), 9216)
    return {
        "link": {
            "admin-status": "down" if down else "up",
            "mtu": mtu,
            "oper-status": "up" if one.up and not down else "down",
            "speed": f"{one.speed_gbps}G",
            "state": {"up" if one.up and not down else "down": {}},
        },
        "type": "swp",
    }


def neighbour(device, port):
    """The LLDP part of a port."""
    return {
        "neighbor": {
            peer.system: {
                "age": "0:10:00",
                "chassis": {"chassis-id": peer.chassis, "system-name": peer.system},
                "port": {"description": peer.description, "name": peer.port, "ttl": 120, "type": "ifname"},
            }
            for near, peer in device.switch.neighbours()
            if near.name == port
        }
    }


def _flow(qos, words, cable=True):
    if not qos.pfc:
        return {"pfc-priority": "-"}
    tree = {
        "pfc-priority": listed(qos.pfc),
        "rx-enabled": words[0 if qos.rx else 1],
        "tx-enabled": words[0 if qos.tx else 1],
    }
    return {**tree, "cable-length": str(qos.cable)} if cable else tree


def _marking(qos, mode, write):
    on = {number: one for number, one in qos.ecn.items() if one["ecn"] == "enable"}
    if not on:
        return {"congestion-mode": "-", "enabled-tc": "-"}
    # One line for all classes: that of the class that RoCE uses, if it has one.
    one = on.get(qos.queues[qos.priorities[26]], on[min(on)])
    return {
        "congestion-mode": mode,
        "enabled-tc": listed(on),
        "max-threshold": write(one["max"]),
        "min-threshold": write(one["min"]),
        "probability": str(one["probability"]),
    }


def _application(qos):
    return {"priority": listed([qos.priorities[26]]), "protocol-id": "4791", "selector": "UDP"}


def _class(one):
    return {
        "ecn": one["ecn"],
        "max-threshold": f"{one['max']} B",
        "min-threshold": f"{one['min']} B",
        "probability": one["probability"],
        "red": one["red"],
    }
