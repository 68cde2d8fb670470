"""One rule over a whole validation: pass means required, measured, based on saved evidence, and met.

It is independent of the product and uses the saved files alone: `violations(result, folder)` takes the content of
validation.json and the folder of the run. An empty list means that no row claims more than was measured.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

VERDICTS = ("pass", "not_required", "warn", "fail", "skipped", "not_run")
DERIVED = ("cluster.efficiency", "cluster.rdma_gain")
# Texts in the place of an expectation that require nothing.
FREE = ("for comparison", "No threshold is published", "The thresholds are shares of")
ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
# Lines of the evidence of counters: name, value before, value after.
COUNTED = re.compile(r"^(\S.*?) (\d+|-) (\d+|-)$", re.M)
DROPS = re.compile(r"drop|discard|lost|out_of_sequence|packet_seq_err|retrans", re.I)
TRAFFIC = re.compile(r"bytes|octets|packets|data", re.I)


def violations(result: dict, folder: Path) -> list[str]:
    """Everything in a saved validation that breaks the rule, as sentences."""
    rows, folder = result["checks"], Path(folder)
    by_id = {row["id"]: row for row in rows}
    found = [f"{name}: {count} rows have this id." for name, count in Counter(by_id_of(rows)).items() if count > 1]
    for row in rows:
        found += [f"{row['id']} ({row['verdict']}): {why}" for why in _of_row(row, by_id, folder)]
    return found + _of_paths(result, folder) + _of_verdict(result["verdict"], rows) + _of_report(folder, rows)


def _of_paths(result: dict, folder: Path) -> list[str]:
    """Each port on a path of the run has a row, no other one has, and settings that pass are all known there."""
    topology = result.get("topology") or {}
    on = {(port["switch"], port["port"]) for hop in topology.get("hops", []) for port in hop["ports"]}
    counted = [row for row in result["checks"] if row["check"] == "fabric.counters" and "switch" in row["subject"]]
    have = {(row["subject"]["switch"], row["subject"]["port"]) for row in counted}
    left_out = any(row["check"] == "fabric.counters" and row["verdict"] == "skipped" for row in result["checks"])
    found = [f"{' '.join(port)} is on a path and has no row." for port in sorted(on - have) if not left_out]
    found += [f"{' '.join(port)} has a row and is on no path." for port in sorted(have - on) if on]
    settings = next((row for row in result["checks"] if row["check"] == "fabric.settings"), None)
    if settings is None or settings["verdict"] != "pass" or not settings["evidence"]:
        return found
    agreement = json.loads((folder / settings["evidence"]).read_text())
    # A guest with a port in passthrough mode has the cable. Any other guest relies on the settings of its host.
    cabled = {path[side]["name"] for path in agreement.get("paths", []) for side in "ab"}
    hosts = {host["name"] for host in topology.get("hosts", [])}
    hosts |= cabled & {guest["name"] for guest in topology.get("vms", [])}
    for end in agreement.get("ends", []):
        mine = (end["name"], end["port"]) in on or (not end["switch"] and end["name"] in hosts)
        if mine and end["unknown"]:
            found.append(f"fabric.settings passes, but {end['unknown']} of {end['name']} {end['port']} is unknown.")
    return found


def by_id_of(rows: list[dict]) -> list[str]:
    return [row["id"] for row in rows]


def _of_row(row: dict, by_id: dict, folder: Path):
    verdict = row["verdict"]
    if verdict not in VERDICTS:
        yield "this verdict is unknown."
        return
    if row["evidence"]:
        yield from _of_file(row["evidence"], folder)
    if verdict != "pass" and not row["why"]:
        yield "it gives no reason."
    if verdict not in ("pass", "not_required"):
        return
    if row["measured"] in (None, ""):
        yield "nothing is measured."
    yield from _based(row, by_id)
    bad = [need for need in row["needs"] if need not in by_id or by_id[need]["verdict"] in ("fail", "not_run")]
    if bad:
        yield f"it needs {', '.join(bad)}, which did not pass."
    if verdict == "pass":
        yield from _required(row)
        yield from _met(row)
        yield from _of_check(row, folder)


def _of_file(name: str, folder: Path):
    file = folder / name
    if not file.resolve().is_relative_to(folder.resolve()):
        yield f"its evidence {name} is not in the folder of the run."
    elif not file.is_file():
        yield f"its evidence {name} does not exist."
    elif not file.read_text(errors="replace").strip():
        yield f"its evidence {name} is empty."


def _based(row: dict, by_id: dict):
    if row["check"] not in DERIVED:
        if not row["evidence"]:
            yield "no evidence is saved."
        return
    good = [need for need in row["needs"] if (by_id.get(need) or {}).get("evidence")]
    if not good or len(good) != len(row["needs"]):
        yield f"it is derived from {row['needs']}, of which not all have evidence."


def _required(row: dict):
    expected = row["expected"]
    parts = [part for part in expected["text"].split("; ") if part and not part.startswith(FREE)]
    if not parts and expected["low"] is None and expected["high"] is None:
        yield f"nothing is required: the expected text is {expected['text']!r}."


def _met(row: dict):
    low, high, value = row["expected"]["low"], row["expected"]["high"], row["measured"]
    if low is None and high is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        yield f"{value!r} is no number between {low} and {high}."
    elif (low is not None and value < low) or (high is not None and value > high):
        yield f"{value} is not between {low} and {high}."


def _of_check(row: dict, folder: Path):
    """Check the additional fields in the row of one check."""
    rule = CHECKS.get(row["check"])
    if rule is not None:
        file = folder / row["evidence"] if row["evidence"] else None
        text = file.read_text(errors="replace") if file is not None and file.is_file() else ""
        yield from rule(row, row["expected"]["text"], str(row["measured"]), text)


def _memlock(row, expected, measured, text):
    limits = re.search(r"soft (-?\d+) kB, hard (-?\d+) kB", text)
    if limits is None:
        yield "its evidence has no limits."
        return
    least = min(float("inf") if int(one) < 0 else int(one) for one in limits.groups())
    wanted = float("inf") if expected == "unlimited" else float(expected.partition(" ")[0] or "inf")
    if least < wanted:
        yield f"its evidence has a limit of {least} kB, and {expected or 'unlimited'} is expected."
    if (measured == "unlimited") != (least == float("inf")):
        yield f"it reports {measured}, and its evidence {limits.group(0)}."


def _address(row, expected, measured, text):
    fixed = ADDRESS.findall(expected)
    if row["expected"]["source"] not in ("site.guests.data_addresses", "the site sets no address"):
        yield f"the source of its expectation is {row['expected']['source']!r}."
    if bool(fixed) != (row["expected"]["source"] == "site.guests.data_addresses"):
        yield f"it expects {expected!r}, and the source is {row['expected']['source']}."
    if not ADDRESS.findall(measured) or not set(fixed) <= set(ADDRESS.findall(measured)):
        yield f"{measured} is not {expected}."
    if not set(ADDRESS.findall(measured)) <= set(ADDRESS.findall(text)):
        yield "its evidence does not have the address."


def _gid(row, expected, measured, text):
    fixed = ADDRESS.findall(expected)
    if fixed and not set(fixed) & set(ADDRESS.findall(measured)):
        yield f"{measured} does not contain {' or '.join(fixed)}."


def _licence(row, expected, measured, text):
    if measured != expected:
        yield f"{measured} is not {expected}."


def _parts(row, expected, measured, text):
    have, _of, wanted = measured.partition(" of ")
    if have != wanted:
        yield f"{measured} is incomplete."


def _placement(row, expected, measured, text):
    hosts, guests = re.findall(r"\d+", measured)
    if hosts != guests:
        yield f"{measured} is not one host per guest."


def _hostname(row, expected, measured, text):
    if re.findall(r"\d+", measured)[-1:] != re.findall(r"\d+", expected)[-1:]:
        yield f"{measured} is not {expected}."


def _counted(row, expected, measured, text):
    reported = {name: (was, now) for name, was, now in COUNTED.findall(text)}
    both = {name: (int(was), int(now)) for name, (was, now) in reported.items() if "-" not in (was, now)}
    drops = {name: pair for name, pair in both.items() if DROPS.search(name)}
    if not drops:
        yield "its evidence has no drop counter with a value before and after."
    if any(now < was for was, now in drops.values()):
        yield "a drop counter was reset."
    if not any(now > was for name, (was, now) in both.items() if TRAFFIC.search(name) and not DROPS.search(name)):
        yield "its evidence shows no traffic."


def _settings(row, expected, measured, text):
    reported = json.loads(text) if text else {}
    if not reported.get("paths"):
        yield "no path was compared."
    if not any(end["known"] for end in reported.get("ends", [])):
        yield "no setting was compared."
    wanted = re.search(r"(\d+) settings of (\d+) ports on the paths", row["why"])
    if wanted is None or int(wanted.group(1)) < 1 or int(wanted.group(2)) < 1:
        yield f"it does not report how many settings were compared: {row['why']!r}."
    if any(one["severity"] == "error" for one in reported.get("disagreements", [])):
        yield "some settings disagree."


def _build(row, expected, measured, text):
    wanted = re.findall(r"(\w+) \(\w+\)", expected)
    missing = [name for name in wanted if f"[x] {name}" not in text.lower()]
    if missing:
        yield f"its evidence does not show {', '.join(missing)}."


CHECKS = {
    "guest.memlock": _memlock,
    "guest.address": _address,
    "guest.gid": _gid,
    "guest.licence": _licence,
    "guest.modules": _parts,
    "placement.hosts": _placement,
    "cluster.hostname": _hostname,
    "cluster.check_build": _build,
    "guest.counters": _counted,
    "fabric.counters": _counted,
    "fabric.settings": _settings,
}


def _of_verdict(verdict: dict, rows: list[dict]) -> list[str]:
    counts = {name: sum(row["verdict"] == name for row in rows) for name in VERDICTS}
    counts |= {"all": len(rows), "simulated": sum(bool(row["simulated"]) for row in rows)}
    found = []
    if verdict["counts"] != counts:
        found.append(f"The verdict counts {verdict['counts']}, but the rows count {counts}.")
    state = _state(counts)
    if verdict["state"] != state:
        found.append(f"The verdict is {verdict['state']}, but the rows result in {state}.")
    passed = re.search(r"All (\d+) checks passed", verdict["sentence"])
    if passed is not None and int(passed.group(1)) != counts["pass"]:
        found.append(f"The sentence reports {passed.group(1)} passed checks, but {counts['pass']} passed.")
    return found


def _state(counts: dict) -> str:
    if counts["fail"]:
        return "fail"
    if counts["not_run"] or not counts["pass"] + counts["warn"]:
        return "incomplete"
    return "warn" if counts["warn"] else "pass"


def _of_report(folder: Path, rows: list[dict]) -> list[str]:
    """The report of the same folder: its rows and its counts are those of the validation."""
    file = folder / "report.json"
    if not file.is_file():
        return []
    reported, found = json.loads(file.read_text()), []
    shown = {
        row["id"]: row["verdict"] for layer in reported["ladder"] for check in layer["checks"] for row in check["rows"]
    }
    differ = [row["id"] for row in rows if shown.get(row["id"]) != row["verdict"]]
    if differ or len(shown) != len(rows):
        found.append(f"The rows of the report differ from the validation: {', '.join(differ[:5])}.")
    counts = {name: sum(row["verdict"] == name for row in rows) for name in VERDICTS}
    if reported["verdict"]["counts"] != counts:
        found.append(f"The report counts {reported['verdict']['counts']}, but the rows count {counts}.")
    text = folder / "report.md"
    line = re.search(r"\| Checks \|.*?(\d+) passed", text.read_text()) if text.is_file() else None
    if line is not None and int(line.group(1)) != counts["pass"]:
        found.append(f"The page reports {line.group(1)} passed checks, but {counts['pass']} passed.")
    return found
