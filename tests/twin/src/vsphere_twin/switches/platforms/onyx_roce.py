"""Show commands of Onyx for its RoCE preset, traffic pools, and counters."""

from __future__ import annotations

from .onyx_config import CNP, RESERVED_POOLS, ROCE, listed

_POOL_HEADS = (
    f"{'Traffic':<25}{'Type':<10}{'Memory':<9}{'Switch':<14}{'Memory actual':<16}{'Usage':<9}Max Usage ",
    f"{'Pool':<35}{'[%]':<9}{'Priorities':<46}",
)


class RoceShows:
    """Texts and JSON objects of one switch."""

    def __init__(self, device):
        self.device, self.switch = device, device.switch

    @property
    def config(self):
        return self.device.config

    def roce(self):
        config = self.config
        if config.roce is None:
            return "\nRoCE mode: N/A\n\n", None
        kb = " (KB)" if self.device.release >= (3, 8, 3000) else "     "
        lossless = config.roce != "lossy"
        text = f"RoCE mode      : {config.roce}\nLLDP           : {word(config.lldp)}\nPort trust mode: L3\n\n"
        text += "Application TLV:\n  Selector: udp\n  Protocol: 4791\n  Priority: 3\n\n"
        text += f"Port congestion-control:\n  Mode    : ecn, absolute\n  Min{kb}: 150\n  Max{kb}: 1500\n\n"
        text += f"PFC              : {self.device.pfc_running}\nswitch-priority 3: {word(lossless)}\n\n"
        line = "-" * 46
        text += f"RoCE used TCs:\n  {line}\n  Switch-Priority   TC     Application   ETS    \n  {line}\n"
        text += "  3                 3      RoCE          WRR 50%\n  6                 6      CNP           Strict \n\n"
        text += f"RoCE buffer pools:\n{self._pool_table(RESERVED_POOLS)}\nException list:\n"
        return text + "".join(f"{one}\n" for one in config.exceptions() or ["N/A"]), None

    def _pool_table(self, names):
        line = "-" * 94
        text = f"  {line}\n  {_POOL_HEADS[0]}\n  {_POOL_HEADS[1]}\n  {line}\n"
        for name, kind, percent, priorities in self.config.all_pools():
            if names is not None and name not in names:
                continue
            shown = listed(priorities, ", ")
            head, tail = (shown, "") if len(shown) <= 11 else (shown[:11].rstrip() + "", shown[12:].strip())
            memory = "auto" if percent is None else f"{percent:.2f}"
            text += f"  {name:<25}{kind:<10}{memory:<9}{head:<14}{'3.6M':<16}{'0':<9}{'0':<10}\n"
            if tail:
                text += f"  {'':<44}{tail:<55}\n"
        return text

    def pools(self, name):
        found = {
            pool: [
                {
                    "Type": kind,
                    "Switch Priorities": listed(priorities, ", ") or "N/A",
                    "Memory [%]": "auto" if percent is None else f"{percent:.2f}",
                    "Memory actual": "3.6M",
                    "Usage": "0",
                    "Max Usage": "0",
                }
            ]
            for pool, kind, percent, priorities in self.config.all_pools()
            if name is None or pool == name
        }
        exceptions = "; ".join(self.config.exceptions()) or "N/A"
        return f"{self._pool_table(list(found))}\nException list:\n{exceptions}\n", {
            **found,
            "Exception list": {"message": exceptions},
        }

    def counters(self, ports, kind, index):
        text, found = "", []
        for port in ports:
            link = self.switch.ports[port]
            received, sent = _port_counters(link) if kind == "port" else _COUNTERS[kind](link.counters, index)
            text += f"\n{port}:\n"
            shown = []
            for way, entries in (("Rx", received), ("Tx", sent)):
                text += f"  {way}:\n" + "".join(f"    {value:<20} {key}\n" for key, value in entries.items())
                shown.append({way: [{key: str(one) for key, one in entries.items()}]})
            found.append({port: shown})
        return text, found


def _port_counters(link):
    """Sum of all classes; a switch of the lab carries nothing but unicast packets."""
    return tuple(
        {
            "packets": link.total(f"{way}_packets"),
            "unicast packets": link.total(f"{way}_packets"),
            "multicast packets": 0,
            "broadcast packets": 0,
            "bytes": link.total(f"{way}_bytes"),
            "discard packets": link.total(f"{way}_drops"),
            "error packets": 0,
        }
        for way in ("rx", "tx")
    )


def _pfc_counters(counters, priority):
    return (
        {"pause packets": counters[f"rx_pause_{priority}"], "pause duration": 0},
        {"pause packets": counters[f"tx_pause_{priority}"], "pause duration": 0},
    )


def _class_counters(counters, tc):
    return {}, {
        "packets": counters[f"tx_packets_{tc}"],
        "bytes": counters[f"tx_bytes_{tc}"],
        "queue depth": 0,
        "wred discard packets": 0,
        "ecn marked packets": counters[f"ecn_marked_{tc}"],
    }


def _roce_counters(counters, index):
    received = {"RoCE PG packets": counters[f"rx_packets_{ROCE}"], "RoCE PG bytes": counters[f"rx_bytes_{ROCE}"]}
    received.update({"RoCE PFC pause packets": counters[f"rx_pause_{ROCE}"]})
    sent = {"RoCE TC packets": counters[f"tx_packets_{ROCE}"], "RoCE TC bytes": counters[f"tx_bytes_{ROCE}"]}
    sent.update({"CNP TC packets": counters[f"tx_packets_{CNP}"], "ECN marked packets": counters[f"ecn_marked_{ROCE}"]})
    return received, {**sent, "RoCE PFC pause packets": counters[f"tx_pause_{ROCE}"]}


_COUNTERS = {"pfc": _pfc_counters, "tc": _class_counters, "roce": _roce_counters}


def word(on):
    return "enabled" if on else "disabled"
