# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Tests between pairs of nodes in pods: the rounds, the pods, and their results as measurements. Pure.

Rounds, commands, parsers and verdicts are those of guests. A pod on one node starts the servers and prints its address.
A pod on the other node then runs the clients. The device and its GID differ by pod, so each pod finds its own.
"""

from __future__ import annotations

import ipaddress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core import evidence
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.measured import (
    DONE,
    FAILED,
    MISSING,
    measurement,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import (
    commands,
    look,
    outcome,
    params,
    rounds,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import (
    checks,
    job,
    network_operator,
    nodes,
    openshift,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.recorded import END, RUN, Recording

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Objects = Sequence[Mapping[str, Any]]
    Made = dict[str, Any]

SERVER, CLIENT = "server", "client"
SELF, READY = "### self ", "### ready"
# Each pod replaces them by its own values.
PLACES = {"@address@": '"$address"', "@device@": '"$device"', "@number@": '"$number"', "@gid@": '"$gid"'}
# The address of the network of pods, or the first one of the RDMA network with its device and the index of its GID.
FIND = """address=$POD_ADDRESS device= number= gid=
if [ -n "$INTERFACE" ]; then
  address=$(ip -4 -o addr show dev "$INTERFACE" | sed -n 's/.* inet \\([0-9.]*\\).*/\\1/p' | head -n 1)
  for file in /sys/class/infiniband/*/ports/*/gid_attrs/ndevs/*; do
    [ "$(cat "$file" 2>/dev/null)" = "$INTERFACE" ] || continue
    index=${file##*/} folder=${file%/gid_attrs/*}
    case "$(cat "$folder/gid_attrs/types/$index" 2>/dev/null)" in *v2*) ;; *) continue;; esac
    case "$(cat "$folder/gids/$index" 2>/dev/null)" in 0000:0000:0000:0000:0000:ffff:*) ;; *) continue;; esac
    device=${folder%/ports/*} device=${device##*/} number=${folder##*/} gid=$index
    break
  done
fi
export address device number gid
"""


def steps(requested: Mapping[str, Any], seen: Objects) -> list[list[list[str]]]:
    """The pairs [from, to] that run at the same time, step by step; empty if the site does not request them."""
    wanted = requested["checks"].get("pairs") or {}
    names = [str(one["metadata"]["name"]) for one in nodes.chosen(seen, requested["nodes"])]
    return [[list(pair) for pair in step] for step in rounds.steps(names, wanted.get("rounds"))] if wanted else []


def pods(
    requested: Mapping[str, Any], seen: Objects, step: Sequence[Sequence[str]], logs: Mapping[str, str] | None = None
) -> list[Made]:
    """The pods of a step: the servers, or with their logs the clients of those that are ready."""
    found = {str(one["metadata"]["name"]): one for one in seen}
    account = openshift.ACCOUNT if nodes.is_openshift(seen) else ""
    servers = [_pod(requested, found[target], account, SERVER, _serve(requested), source) for source, target in step]
    if logs is None:
        return servers
    made = []
    for (source, target), server in zip(step, servers):
        address = _address(logs.get(server["metadata"]["name"]) or "")
        if address:
            made.append(_pod(requested, found[source], account, CLIENT, _call(requested, address), target))
    return made


def started(found: Objects) -> bool:
    """Whether every pod runs, ended, or cannot start because of its image."""
    running = [one for one in found if (one.get("status") or {}).get("phase") == "Running"]
    return bool(found) and all(one in running or checks.ended([one]) for one in found)


def results(requested: Mapping[str, Any], done: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """{measurements, files}. done has for each step its pairs (step), servers, clients, and more as checks.results."""
    measurements: list[dict[str, Any]] = []
    files: dict[str, str] = {}
    for one in ({**step, "logs": checks.current(step)} for step in done):
        clients = {made["metadata"]["annotations"][checks.OF_NODE]: made for made in one["clients"]}
        for (source, target), server in zip(one["step"], one["servers"]):
            address = _address(str(one["logs"].get(server["metadata"]["name"]) or "")) or "unknown"
            for test, port in zip(*_tests(requested, address)):
                row, text = _result(requested, one, (source, target), server, clients.get(source), test, port)
                measurements.append(row)
                if text:
                    files[row["evidence"]] = text
    return {"measurements": measurements, "files": files}


def _result(
    requested: Mapping[str, Any],
    done: Mapping[str, Any],
    pair: tuple[str, str],
    server: Made,
    client: Made | None,
    test: commands.Test,
    port: int,
) -> tuple[dict[str, Any], str]:
    """The measurement of one direction, and the text of its evidence."""
    source, target = pair
    subject = {"from": source, "to": target}
    words = [word.replace(commands.PORT, str(port)) for word in test.clients[0]]
    if client is None:
        return measurement(test.check, subject, FAILED, _trouble(requested, done, server), command=words), ""
    log = str(done["logs"].get(client["metadata"]["name"]) or "")
    recorded = Recording(log).commands
    if test.check not in recorded:
        return measurement(test.check, subject, FAILED, _trouble(requested, done, client), command=words), ""
    text, status = recorded[test.check]
    own, server_log = _own(log), str(done["logs"].get(server["metadata"]["name"]) or "")
    words = _filled(words, own)
    served = Recording(server_log).commands.get(test.check)
    outputs: dict[str, tuple[int | None, str]] = {"1": (served[1], served[0])} if served else {}
    # The evidence has the values of the pods.
    known = replace(
        test,
        servers=(tuple(_filled(test.servers[0], _own(server_log))),),
        clients=(tuple(_filled(test.clients[0], own)),),
    )
    ran = outcome.Ran(known, outcome.Side(outputs, (port,)), outcome.Side({"1": (status, text)}))
    path = evidence.place(test.check, source, target)
    about = {"command": words, "evidence": path}
    found = outcome.evidence([ran], source, target)
    if status == outcome.NOT_FOUND:
        image = requested["checks"]["pairs"]["image"]
        why = f"The program {test.tool} is missing in the image {image}. Name an image with {look.PACKAGES[test.tool]}."
        return measurement(test.check, subject, MISSING, why, **about), found
    if test.check in params.WITH_RDMA and not own.get("device"):
        why = (
            f"The pod on {source} has no RoCE v2 GID with an IPv4 address on {job.DATA}. Check the device plugin "
            "and the addresses of its network."
        )
        return measurement(test.check, subject, FAILED, why, **about), found
    state, why, values = outcome.judged([ran], None)
    return measurement(test.check, subject, state if why else DONE, why, readings=values, **about), found


def _filled(argv: Sequence[str], own: Mapping[str, str]) -> list[str]:
    """A command with the values of a pod."""
    return [own.get(word.strip("@"), word) if word in PLACES else word for word in argv]


def _trouble(requested: Mapping[str, Any], done: Mapping[str, Any], made: Made) -> str:
    """Why a pod of a pair has no result."""
    name = made["metadata"]["name"]
    log = str(done["logs"].get(name) or "")
    if any(line.startswith(SELF) for line in log.splitlines()) and not _address(log):
        where = f"IPv4 address on {job.DATA}" if requested.get("network_operator") else "IP address"
        return (
            f"The pod on {made['metadata']['annotations'][checks.OF_NODE]} has no {where}. Check the addresses of its "
            f"network, and that the image {requested['checks']['pairs']['image']} contains ip, sed and head."
        )
    found = next((one for one in done["pods"] if one["metadata"]["name"] == name), None)
    return f"{checks.trouble(name, found, done, requested['checks'])}."


def _own(log: str) -> dict[str, str]:
    """{address, device, number, gid} that a pod printed, as far as it has them."""
    for line in log.splitlines():
        if line.startswith(SELF):
            parts = (one.partition("=") for one in line[len(SELF) :].split())
            return {key: value for key, _sign, value in parts if value}
    return {}


def _address(log: str) -> str:
    """The address that a pod printed; empty if it is none, because it becomes a part of a command."""
    try:
        return str(ipaddress.ip_address(_own(log).get("address", "")))
    except ValueError:
        return ""


def _tests(requested: Mapping[str, Any], server: str) -> tuple[list[commands.Test], list[int]]:
    """The tests of a pair and their ports; server is the address of the servers."""
    wanted, network = requested["checks"]["pairs"], requested.get("network_operator") or {}
    given = {name: one.get("default") for name, one in params.ARGUMENTS.items()}
    given.update({key: wanted[key] for key in ("seconds", "qps", "streams", "rounds")})
    given.update(guests=[], ports=dict(params.PORTS), limits=dict(params.LIMITS))
    given.update(traffic_class=network.get("traffic_class"), mtu=network.get("mtu"))
    request = params.request_of(given)
    places: Any = {"device": "@device@", "port": "@number@", "gid_index": "@gid@"}
    ends = [look.End("", address, "", 0, gpu=0, **places) for address in (server, "@address@")]
    tests = [test for check in checks.pair_checks(network) for test in commands.runs(check, request, ends[0], ends[1])]
    return tests, [params.PORTS["first"] + number for number in range(len(tests))]


def _line(argv: Sequence[str], port: int) -> str:
    text = commands.line(argv, port)
    for place, value in PLACES.items():
        text = text.replace(place, value)
    return text


def _serve(requested: Mapping[str, Any]) -> str:
    limit, lines, shown = _served_s(requested), [], []
    for number, (test, port) in enumerate(zip(*_tests(requested, "@address@"))):
        file = f"/tmp/aiready-{number}"
        lines.append(f"( timeout {limit} {_line(test.servers[0], port)} > {file} 2>&1; echo $? > {file}.status ) &")
        shown += [f"echo '{RUN}{test.check}'", f"cat {file}", f'echo "{END}$(cat {file}.status)"']
    # Each server ends after its client.
    return "\n".join([FIND + SHOW, *lines, "sleep 2", f"echo '{READY}'", "wait", *shown])


def _served_s(requested: Mapping[str, Any]) -> int:
    """How long servers wait: their clients may use the whole limit for their start and their programs."""
    return 2 * max(int(requested["checks"]["limit_s"]), 1)


SHOW = f'echo "{SELF}address=$address device=$device number=$number gid=$gid"'


def _call(requested: Mapping[str, Any], server: str) -> str:
    lines = [FIND + SHOW]
    for test, port in zip(*_tests(requested, server)):
        limit = test.seconds + params.LIMITS["test_s"]
        call = f"timeout {limit} {_line(test.clients[0], port)} 2>&1"
        lines += [f"echo '{RUN}{test.check}'", call, f'echo "{END}$?"']
    return "\n".join(lines)


def _pod(
    requested: Mapping[str, Any], node: Mapping[str, Any], account: str, name: str, script: str, other: str
) -> Made:
    network = requested.get("network_operator") or {}
    field = {"fieldRef": {"fieldPath": "status.podIP"}}
    container: Made = {
        "name": name,
        "image": requested["checks"]["pairs"]["image"],
        "command": ["/bin/sh", "-c", script],
        "env": [
            {"name": "POD_ADDRESS", "valueFrom": field},
            {"name": "INTERFACE", "value": job.DATA if network else ""},
            # Each pair has names of its own, so that no pod that remains gives its output to another pair.
            {"name": "PEER", "value": other},
        ],
        "securityContext": {"capabilities": {"add": list(checks.CAPABILITIES[:1])}},
    }
    if network:
        container["resources"] = {"limits": network_operator.resources(network)}
    made = checks.pod(requested, node, account, container, f"aiready-pair-{name}", "pair")
    if name == SERVER:
        # From the start of its pod, so its own start comes before.
        made["spec"]["activeDeadlineSeconds"] += _served_s(requested)
    return made
