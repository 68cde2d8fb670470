"""A guest on paper: commands of `ip` change its adapters, services answer from a table, and the path has an MTU."""

from __future__ import annotations

import json

from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import NOT_FOUND, Done
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

MAC = "00:50:56:9a:10:01"


class Guest:
    """Commands of a guest; said holds what was run."""

    def __init__(self, root, answers=(), programs=(), path_mtu=9000, peers=()):
        self.files = Files(str(root))
        self.links = {}
        self.answers = dict(answers)  # {words that a command begins with: Done's (rc, stdout) or a text}
        self.programs = set(programs)
        self.path_mtu, self.peers = path_mtu, set(peers)
        self.lost = 0  # of three packets
        self.refuses = ()  # words of `ip` that the kernel does not take
        self.said = []
        self.limits = {}  # {words of a command: how long it may take}
        self.link("ens192", "00:50:56:9a:00:01", ["192.0.2.11/24"])
        self.link("ens224", MAC, [])

    def link(self, name, mac, addresses, mtu=1500, up=True, kind=None, most=9000):
        self.links[name] = {"mac": mac, "addresses": list(addresses), "mtu": mtu, "up": up, "kind": kind, "most": most}

    def find(self, program):
        return f"/usr/sbin/{program}" if program in self.programs else None

    def run(self, argv, limit_s=None, **_options):
        argv = [str(word) for word in argv]
        text = " ".join(argv)
        self.said.append(text)
        self.limits[text] = limit_s
        for words, answer in self.answers.items():
            if text.startswith(words):
                rc, out = (0, answer) if isinstance(answer, str) else answer
                return Done(tuple(argv), rc, out, "" if rc == 0 else out)
        maker = {"ip": self._ip, "ping": self._ping}.get(argv[0])
        return maker(argv) if maker else Done(tuple(argv), NOT_FOUND, "", "no such program")

    def must(self, argv, *_reported, **_options):
        done = self.run(argv)
        assert done.ok, done
        return done

    def _ip(self, argv):
        if argv[1] == "-j":
            return Done(tuple(argv), 0, json.dumps([_row(name, link) for name, link in self.links.items()]))
        if any(word in argv for word in self.refuses):
            return Done(tuple(argv), 2, "", "RTNETLINK answers: Invalid argument")
        link = self.links[argv[argv.index("dev") + 1]]
        if argv[1] == "link":
            link["up"] = link["up"] or "up" in argv
            link["mtu"] = int(argv[argv.index("mtu") + 1]) if "mtu" in argv else link["mtu"]
        elif argv[2] == "add":
            link["addresses"].append(argv[3])
        else:
            link["addresses"].remove(argv[3])
        return Done(tuple(argv), 0)

    def _ping(self, argv):
        fits = int(argv[argv.index("-s") + 1]) + 28 <= self.path_mtu
        answered = 3 - self.lost if fits and argv[-1] in self.peers else 0
        said = f"3 packets transmitted, {answered} received, {100 - 100 * answered // 3}% packet loss, time 402ms"
        return Done(tuple(argv), 0 if answered == 3 else 1, said)


def _row(name, link):
    return {
        "ifname": name,
        "address": link["mac"],
        "mtu": link["mtu"],
        "max_mtu": link["most"],
        "flags": ["UP", "LOWER_UP"] if link["up"] else [],
        "linkinfo": {"info_kind": link["kind"]} if link["kind"] else {},
        "addr_info": [
            {"local": one.split("/")[0], "prefixlen": int(one.split("/")[1]), "scope": "global"}
            for one in link["addresses"]
        ],
    }
