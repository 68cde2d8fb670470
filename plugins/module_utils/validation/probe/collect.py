# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Collect the measurements of all checks from the results of the modules. Pure except for read."""

from __future__ import annotations

import json
import shlex
from typing import Any, Callable, Iterable, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core import evidence
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import check_cluster, simulated, suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    guests_of,
    listing,
    mapping,
    number,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.measured import (
    DONE,
    FAILED,
    SKIPPED,
    STATES,
    measurement,
    readings,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import (
    counters,
    hostnames,
    nccl_log,
    nccl_tests,
    osu,
    ucx,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import fabric

CHECK_BUILD = ["horovodrun", "--check-build"]
# Failure codes of a run that is rejected because of the build of its image.
OF_BUILD = ("no_horovod", "not_built_in")
# Larger numbers of a guest are invalid; counters have 64 bits.
MOST = 1 << 64
# Limits of the depth of readings, the number of measurements and the output of a guest.
DEEPEST, MOST_MEASUREMENTS, MOST_OUTPUT = 12, 1000, 1 << 22


def collect(
    seen: Mapping[str, Any], read: Callable[[str], str] = lambda _path: ""
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """([measurement], {name of a file: its full output}).

    seen has guests ({name: {before, after}}, results of guest_health_info), hosts ({guest: ESXi host}), agreement (the
    result of roce_agreement_info, or {why}), pairs (the result of pair_test), switches ({before, after}), and runs
    ([{check, variant, guests, run}], run being the result of training_run). read returns the text of a file.
    """
    files: dict[str, str]
    found: list[dict[str, Any]]
    found, files = [], {}
    declared = listing(seen.get("simulated"))
    for name, looks in mapping(seen.get("guests")).items():
        found += _of_guest(name, mapping(looks), files)
    found += _of_hosts(seen, files)
    found += fabric.of(seen, files)
    found += listing(mapping(seen.get("pairs")).get("measurements"))
    for run in listing(seen.get("runs")):
        found += _of_run(mapping(run), files, read)
    return [_marked(one, declared) for one in found], files


def _marked(one: dict[str, Any], declared: Sequence[str]) -> dict[str, Any]:
    """A measurement with the simulated parts that it depends on."""
    if one["status"] == SKIPPED:
        return one
    device = ""
    if one["check"] == "cluster.training":
        device = str(check_cluster.figures(mapping(one.get("readings")))["device"] or "")
    parts = simulated.of(one["check"], declared, one.get("variant") or "", device)
    return dict(one, simulated=bool(parts or one.get("simulated")), simulated_parts=parts)


def _of_guest(name: str, looks: Mapping[str, Any], files: dict[str, str]) -> list[dict[str, Any]]:
    counts: dict[str, dict[str, Any]]
    found: list[dict[str, Any]]
    found, counts = [], {}
    for phase in ("before", "after"):
        result = mapping(looks.get(phase))
        if result.get("skipped") or not result:
            continue
        if "measurements" not in result:
            said = " ".join(str(result.get("msg") or "no error message").split())
            how = "does not answer" if result.get("unreachable") else "could not be read"
            found.append(measurement("guest.kernel", {"guest": name}, FAILED, f"{name} {how}: {said}"))
            continue
        outputs = mapping(result.get("outputs"))
        for one in filter(None, (_heard(name, reported) for reported in _reported(result))):
            if one["check"] == "guest.counters":
                counts[phase] = one
                continue
            known = f"{one['check']}.{phase}" if f"{one['check']}.{phase}" in outputs else one["check"]
            if known in outputs and one["command"]:
                place = evidence.place(known, name)
                said = str(outputs[known])[:MOST_OUTPUT].rstrip() or fabric.NOTHING
                files[place] = f"### {name}: {' '.join(one['command'])}\n{said}\n"
                found.append(dict(one, evidence=place))
            else:
                found.append(one)
    return found + _counted(name, counts, files)


def _reported(result: Mapping[str, Any]) -> Sequence[Any]:
    """The measurements in the result of a guest."""
    return listing(result["measurements"])[:MOST_MEASUREMENTS]


def _heard(name: str, reported: Any) -> dict[str, Any] | None:
    """A measurement of a guest, or None. It is always about that guest and has no evidence yet."""
    reported = mapping(reported)
    spec = suite.of(reported.get("check") if isinstance(reported.get("check"), str) else "")
    status = reported.get("status")
    if spec is None or spec.layer != suite.GUEST or status not in STATES:
        return None
    made = measurement(spec.check, {"guest": name}, status, str(reported.get("why") or ""))
    made.update({key: str(reported.get(key) or "") for key in ("version", "began", "variant")})
    made["command"] = [str(word) for word in listing(reported.get("command"))]
    made["seconds"] = number(_finite(reported.get("seconds"))) or 0.0
    made["readings"] = _finite(mapping(reported.get("readings")))
    made["simulated"] = reported.get("simulated") is True
    return made


def _finite(value: Any, depth: int = 0) -> Any:
    """A value without numbers that JSON or a sum cannot hold, and without too many levels."""
    if isinstance(value, (dict, list, tuple)) and depth > DEEPEST:
        return None
    if isinstance(value, dict):
        return {str(key): _finite(one, depth + 1) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one, depth + 1) for one in value]
    if isinstance(value, (int, float)) and not abs(value) < MOST:
        return None
    return value


def _counted(name: str, counts: Mapping[str, dict[str, Any]], files: dict[str, str]) -> list[dict[str, Any]]:
    """The difference of the counters of a guest."""
    before, after = counts.get("before"), counts.get("after")
    if before is None or after is None:
        return []
    bad = next((one for one in (before, after) if one["status"] != DONE), None)
    if bad is not None:
        return [dict(bad, variant="")]
    was, now = (mapping(one["readings"].get("counters")) for one in (before, after))
    place = evidence.place("guest.counters", name)
    files[place] = f"### {name}: {' '.join(before['command'])}: name, before, after\n{counters.table(was, now)}"
    return [dict(before, readings=counters.delta(was, now), variant="", evidence=place)]


def _of_hosts(seen: Mapping[str, Any], files: dict[str, str]) -> list[dict[str, Any]]:
    hosts = mapping(seen.get("hosts"))
    if not hosts:
        return []
    subject, place = {"guests": list(mapping(seen.get("guests")))}, evidence.place("placement.hosts")
    files[place] = "### vCenter: the host of each VM\n" + "".join(f"{name} {host}\n" for name, host in hosts.items())
    about: dict[str, Any] = {"command": ["aiready.vsphere.vm_guest_info"], "evidence": place}
    return [measurement("placement.hosts", subject, readings={"hosts": dict(hosts)}, **about)]


def _of_run(run: Mapping[str, Any], files: dict[str, str], read: Callable[[str], str]) -> list[dict[str, Any]]:
    """The measurements of one run of training_run; for hostname also that of the build."""
    answer = mapping(run.get("run"))
    training = mapping(answer.get("training"))
    result = mapping(mapping(training.get("after")).get("result"))
    check, variant, names = run["check"], run.get("variant") or "", list(run["guests"])
    subject = _subject(check, names)
    if answer.get("skipped") or (not result and not answer.get("failed") and not answer.get("msg")):
        return []
    if not result:
        why = " ".join(str(training.get("msg") or answer.get("msg")).split())
        failure = mapping(training.get("failure") or answer.get("failure"))
        if check == "cluster.hostname" and failure.get("code") in OF_BUILD:
            # The run was rejected for a missing feature of the image, before any process started.
            check = "cluster.check_build"
        return [measurement(check, subject, FAILED, why, variant=variant, readings=_who(failure.get("subject"), names))]
    result = _whole(result, read)
    text = read(result.get("log") or "")
    place = evidence.place(check, variant, *(subject[key] for key in ("guest", "from", "to") if key in subject))
    launches = listing(mapping(training.get("after")).get("launches"))
    lines = [f"### {mapping(one).get('host')}: {shlex.join(listing(mapping(one).get('argv')))}\n" for one in launches]
    files[place] = "".join(lines) + text
    about = {
        "variant": variant,
        "command": listing(mapping(launches[0]).get("argv")) if launches else [],
        "evidence": place,
        "began": str(result.get("began") or ""),
        "seconds": result.get("seconds") or 0.0,
        "version": str(mapping(result.get("build")).get("version") or ""),
    }
    if check == "cluster.training":
        return [_training(subject, result, about)]
    if check == "cluster.nccl":
        return [_nccl(subject, text, result, about)]
    if check in suite.PROGRAMS:
        return [_osu(check, subject, text, result, about)]
    return [_hostname(subject, text, result, about), *_build(subject, result, about, files)]


def _subject(check: str, names: Sequence[str]) -> dict[str, Any]:
    if check.startswith("pair."):
        return {"from": names[0], "to": names[1]}
    return {"guest": names[0]} if check == "cluster.training" and len(names) == 1 else {"guests": names}


def _whole(result: dict[str, Any], read: Callable[[str], str]) -> dict[str, Any]:
    """The result with all iterations, which are only in the file."""
    text = read(result.get("file") or "")
    try:
        found = json.loads(text) if text else None
    except ValueError:
        found = None
    return found if isinstance(found, dict) and found.get("run") == result.get("run") else result


def _failed(result: Mapping[str, Any]) -> str:
    verdict = mapping(result.get("verdict"))
    return "" if verdict.get("state") == "passed" else str(verdict.get("reason") or "The run failed.")


def _who(host: Any, names: Sequence[str]) -> dict[str, Any]:
    """The faulty guest, if it is one of these."""
    return {"at": host} if host in names else {}


def _unfinished(
    check: str,
    subject: Mapping[str, Any],
    result: Mapping[str, Any],
    why: str,
    about: Mapping[str, Any],
    text: str = "",
) -> dict[str, Any]:
    """A run without a figure: its faulty guest, and the known error of the run or of its output."""
    verdict = mapping(result.get("verdict"))
    known = mapping(verdict.get("known")) or texts.known(text) or {}
    reported = {**_who(verdict.get("host"), guests_of(subject)), **({"error": known["code"]} if known else {})}
    return measurement(check, subject, FAILED, why, readings=reported, **about)


def _training(subject: Mapping[str, Any], result: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    why = _failed(result)
    if mapping(result.get("throughput")).get("mean") is None and why:
        return _unfinished("cluster.training", subject, result, why, about)
    return measurement("cluster.training", subject, readings=result, **about)


def _nccl(subject: Mapping[str, Any], text: str, result: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    reported, log = nccl_tests.parse(text), nccl_log.parse(text)
    values = readings({**log, **reported})
    values["nodes"] = values.get("nodes") or len(subject["guests"])
    # The ranks of the built-in all_reduce report it.
    names = [str(mapping(one).get("engine") or "") for one in listing(result.get("ranks"))]
    values["backend"] = next((name.split()[1] for name in names if name.startswith("torch.distributed ")), None)
    if reported["why"]:
        return _unfinished("cluster.nccl", subject, result, _failed(result) or reported["why"], about, text)
    # Figures of a failed run stay as evidence; the check fails by the verdict of the run.
    values["verdict"] = mapping(result.get("verdict"))
    return measurement(
        "cluster.nccl", subject, readings=values, **dict(about, version=str(reported.get("version") or ""))
    )


def _osu(
    check: str, subject: Mapping[str, Any], text: str, result: Mapping[str, Any], about: Mapping[str, Any]
) -> dict[str, Any]:
    reported = osu.parse(text)
    if reported["why"]:
        # The error of the program explains more than the exit of a rank.
        why = reported["why"] if reported["understood"] else _failed(result) or reported["why"]
        return _unfinished(check, subject, result, why, about, text)
    values = dict(readings(reported), ranks=len(listing(result.get("ranks"))), verdict=mapping(result.get("verdict")))
    values["ucx"] = ucx.transports(text)
    return measurement(check, subject, readings=values, **dict(about, version=str(reported["version"])))


def _hostname(
    subject: Mapping[str, Any], text: str, result: Mapping[str, Any], about: Mapping[str, Any]
) -> dict[str, Any]:
    reported = hostnames.parse(text)
    names = {mapping(one).get("node"): mapping(one).get("name") for one in listing(result.get("hosts"))}
    why = _failed(result) or reported["why"]
    if why:
        return _unfinished("cluster.hostname", subject, result, why, about, text)
    values = readings(reported)
    values["hosts"] = {names.get(node, node): count for node, count in reported["hosts"].items()}
    return measurement("cluster.hostname", subject, readings=values, **about)


def _build(
    subject: Mapping[str, Any], result: Mapping[str, Any], about: Mapping[str, Any], files: dict[str, str]
) -> list[dict[str, Any]]:
    if "build" not in result:
        return []
    build = dict(mapping(result["build"]))
    output, place = str(build.pop("output", "")), evidence.place("cluster.check_build")
    if output:
        files[place] = f"### {shlex.join(CHECK_BUILD)}\n{output.rstrip()}\n"
    about = dict(about, command=CHECK_BUILD, evidence=place if output else "")
    if not build.get("version"):
        why = "Horovod did not report its build features."
        return [measurement("cluster.check_build", subject, FAILED, why, **about)]
    return [measurement("cluster.check_build", subject, readings=build, **about)]


def versions(
    measurements: Iterable[Mapping[str, Any]], runs: Iterable[Mapping[str, Any]] = (), declared: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """[{object, what, version, simulated_parts}] of everything that reported its version, each once."""
    found: list[dict[str, Any]] = []

    def add(name: str, what: str, version: Any, parts: Iterable[str] = ()) -> None:
        mine = simulated.among(parts, declared)
        entry = {"object": name, "what": what, "version": str(version), "simulated_parts": mine}
        if version and entry not in found:
            found.append(entry)

    for one in measurements:
        name, values = one["subject"].get("guest") or one["subject"].get("from") or "", mapping(one.get("readings"))
        parts = simulated.VERSIONS.get(one["check"], ())
        if one["check"] == "guest.kernel":
            add(name, "operating system", values.get("system"), parts)
            add(name, "kernel", values.get("kernel"), parts)
        elif one["check"] == "guest.driver":
            add(name, "NVIDIA driver", values.get("driver"), parts)
            add(name, "CUDA of the driver", values.get("cuda"), parts)
        elif one["check"] == "guest.rdma_device":
            for device in map(mapping, listing(values.get("devices"))):
                add(name, f"firmware of {device.get('name')}", device.get("firmware"), parts)
        elif one["check"] in suite.PROGRAMS:
            add("image", osu.TOOL, one.get("version"))
        elif one["check"].startswith("pair.") and one.get("command"):
            add(name, one["command"][0], one.get("version"), parts)
        elif one["check"] == "cluster.check_build":
            add("image", "Horovod", values.get("version"))
        elif one["check"] == "cluster.nccl":
            add("image", "NCCL", one.get("version"), parts)
    for run in runs:
        training = mapping(mapping(run.get("run")).get("training"))
        image = mapping(mapping(mapping(training.get("after")).get("result")).get("image"))
        add(image.get("name") or "image", "image", next(iter(listing(image.get("digests"))), image.get("id")))
    return found
