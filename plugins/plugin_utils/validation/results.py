# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Guests and task results in the format of the validation modules, and the verdict. Pure."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import short

KEPT = ("measurements", "outputs", "unreachable", "failed", "msg", "skipped")
PAIR = ("name", "address", "interface", "device", "port", "gid_index")
RUN = ("name", "address", "interface", "slots")
# vCenter reports the number of GPUs of a guest; the guest reports their names.
PLACE = ("host", "gpu", "nic", "address")
# The verdict incomplete is a failure, except with `never`.
BAD = {"fail": ("fail", "incomplete"), "warn": ("fail", "incomplete", "warn"), "never": ()}
NO_VERDICT = {
    "state": "incomplete",
    "sentence": "No verdict: no check was evaluated.",
}


def parts(guests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """{names, hosts, pairs, runs, places} of the guests of a validation."""
    pairs = [_known(guest, PAIR) for guest in guests]
    return {
        "names": [guest["name"] for guest in guests],
        "hosts": {guest["name"]: guest["host"] for guest in guests if guest.get("host")},
        "pairs": [guest for guest in pairs if "address" in guest],
        "runs": [_known(guest, RUN) for guest in guests],
        "places": {guest["name"]: {key: value for key, value in guest.items() if key in PLACE} for guest in guests},
    }


def _known(guest: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in guest.items() if key in keys and value != ""}


def seen(
    variables: Mapping[str, Mapping[str, Any]], guests: Sequence[Mapping[str, Any]], transport: str, looped: bool = True
) -> dict[str, Any]:
    """{guests, pairs, hosts, runs} from the tasks of the role; variables are hostvars.

    looped: also runs of loops, some of which depend on earlier measurements.
    """
    names = [guest["name"] for guest in guests]
    named = {name: variables[name] for name in names}
    # All hosts of the play, and so each guest, have the result of a task with run_once.
    first = named[names[0]] if names else {}
    return {
        "guests": {name: _looks(own) for name, own in named.items()},
        "pairs": first.get("__validation_pairs") or {},
        "hosts": parts(guests)["hosts"],
        "runs": [
            _of_all("cluster.hostname", "", names, first.get("__validation_hostname")),
            _of_all("cluster.nccl", transport, names, first.get("__validation_nccl")),
            *(_looped(first, named) if looped else ()),
        ],
    }


def _looks(own: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """{before, after} of a guest, also of an unreachable one."""
    return {
        phase: {key: value for key, value in (own.get(f"__validation_{phase}") or {}).items() if key in KEPT}
        for phase in ("before", "after")
    }


def _of_all(check: str, variant: str, names: Sequence[str], result: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"check": check, "variant": variant, "guests": list(names), "run": result or {}}


def _looped(first: Mapping[str, Any], named: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    results = [
        *(one for own in named.values() for one in own.get("__validation_osu_runs") or ()),
        *(one for own in named.values() for one in (own.get("__validation_alone") or {}).get("results") or ()),
        *((first.get("__validation_training") or {}).get("results") or ()),
    ]
    return [_run(one) for one in results if "item" in one]


def _run(result: Mapping[str, Any]) -> dict[str, Any]:
    """The run of one result of a loop."""
    item = result["item"]
    return {
        "check": item.get("check", "cluster.training"),
        "variant": item.get("variant", ""),
        "guests": item["guests"],
        "run": {key: value for key, value in result.items() if key != "item"},
    }


def verdict(judged: Mapping[str, Any] | None, fail_on: str, result_dir: str) -> dict[str, Any]:
    """{state, failed, lines} from the result of validation_result, which may not have run."""
    validation = (judged or {}).get("validation") or {}
    found = validation.get("verdict") or NO_VERDICT
    wrong: Iterable[Mapping[str, Any]] = validation.get("not_right") or ()
    rows = [f"{one['id']}: {one['why']}{_expected(one)}" for one in wrong]
    failed = found["state"] in BAD[fail_on]
    lines = [found["sentence"], *rows, *_references(validation.get("references") or ()), f"Results: {result_dir}"]
    return {"state": found["state"], "failed": failed, "lines": lines}


def _references(compared: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each figure with a reference, and one for all others."""
    for one in compared:
        if one["expected"] is not None:
            source = ", ".join(filter(None, (one["source"], one["mark"])))
            share = f"{short(one['percent'])} % of the reference {short(one['expected'])} {one['unit']}"
            yield f"{one['row']}: {short(one['measured'])} {one['unit']}, {share} ({source})."
    without = [one for one in compared if one["expected"] is None]
    if without:
        more = f" and {len(without) - 1} more" if len(without) > 1 else ""
        yield f"No reference: {without[0]['row']}{more}. Reason: {without[0]['why']}."


def _expected(row: Mapping[str, Any]) -> str:
    """The expected value of a row; a row that could not run may have none."""
    return f" Expected: {row['expected']}." if row.get("expected") else ""


def fabric(variables: Mapping[str, Mapping[str, Any]], groups: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """{agreement, switches, host_ports} from the playbooks fabric_check and validate; variables are hostvars."""
    own = variables["localhost"]
    switches = [variables[name] for name in groups.get("switches") or ()]
    compared = own.get("__fabric_check") or {"skipped": True}
    why = _not_compared(own.get("site") or {}, switches)
    return {
        "host_ports": (own.get("__fabric_check_hosts") or {}).get("hosts") or [],
        # A skipped comparison is registered too.
        "agreement": {"why": why} if compared.get("skipped") else compared,
        "switches": {
            "before": _read(switches, "__fabric_check_switch"),
            "after": _read(switches, "__validate_switch"),
        },
    }


def _not_compared(site: Mapping[str, Any], switches: Sequence[Any]) -> str:
    if (site.get("fabric") or {}).get("agreement") == "skip":
        return "The site skips this check: site.fabric.agreement is skip."
    if not switches:
        return "No switch to compare: the group switches is empty."
    return "A limit, a tag or switch_state prevented the comparison of switches, hosts and guests."


def _read(switches: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """The results of the reachable switches."""
    return [one[name]["switch"] for one in switches if "switch" in (one.get(name) or {})]
