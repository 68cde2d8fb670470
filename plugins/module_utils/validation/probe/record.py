# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The record of a validation: evaluated, composed, and written to the folder of the run."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Callable, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core import evidence
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import baseline as baselines
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import judge, simulated
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import collect, topology

NAME, FORMAT = "validation.json", 1
# Limit of a training log; the file of the run has the rest.
MOST_READ = 1 << 26


def read(path: str) -> str:
    """The text of a file on the controller; an empty text if it does not exist."""
    try:
        with open(os.path.expanduser(path), encoding="utf-8", errors="replace") as file:
            return file.read(MOST_READ)
    except OSError:
        return ""


def record(
    params: Mapping[str, Any], now: str, reader: Callable[[str], str] = read
) -> tuple[dict[str, Any], dict[str, str], dict[str, Any] | None]:
    """({the record}, {file: text} of evidence, the new baseline or None), without writing files."""
    seen = {
        **{key: params[key] for key in ("guests", "agreement", "pairs", "switches", "runs", "simulated")},
        "hosts": {name: one["host"] for name, one in params["places"].items() if one.get("host")},
    }
    measurements, files = collect.collect(seen, reader)
    picture = topology.picture(
        *(params["places"], params["agreement"], params["host_ports"], params["switches"].get("after")),
        measurements=measurements,
        simulated=params["simulated"],
    )
    path = os.path.expanduser(params["baseline"]) if params["baseline"] else ""
    whole = baselines.parse(reader(path) if path else "", path)
    before = baselines.of_site(whole, params["site"])
    reported = judge.judge(measurements, params["intent"], params["thresholds"], before if path else None, picture)
    kept = None
    if path:
        run = os.path.basename(params["result_dir"].rstrip("/"))
        kept, _done = baselines.record(before, reported["figures"], run, now, params["keep"])
        kept = None if kept == before else baselines.with_site(whole, params["site"], kept)
    for row in reported["rows"]:
        row["relaxed"] = [_less(one) for one in params["relaxed"] if _concerns(one, row)]
        row["notes"] = [str(params["notes"][row["check"]])] if row["check"] in params["notes"] else []
    made = {
        "format": FORMAT,
        "began": params["began"] or now,
        "ended": now,
        "site": {"name": params["site"], "data_path": params["intent"].get("data_path", "tcp")},
        "verdict": reported["verdict"],
        "simulated": reported["simulated"],
        "simulated_parts": simulated.among(params["simulated"], simulated.WORDS),
        "versions": collect.versions(measurements, params["runs"], params["simulated"]),
        "checks": reported["rows"],
        "trainings": reported["trainings"],
        "topology": picture,
        "thresholds": reported["thresholds"],
        "references": reported["references"],
        "causes": reported["causes"],
        "relaxed": params["relaxed"],
    }
    return made, files, kept


def _concerns(relaxed: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Whether a relaxed setting affects this row; a setting of a variant affects no other variant."""
    return not {row["check"], f"{row['check']}:{row['variant']}"}.isdisjoint(relaxed["checks"])


def _less(relaxed: Mapping[str, Any]) -> str:
    return f"{relaxed['setting']} is {relaxed['value']} instead of {relaxed['strict']}. {relaxed['means']}"


def write(folder: str, made: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """Write the record atomically, after the files that it names. Returns its path."""
    folder = os.path.expanduser(folder)
    try:
        for name, text in files.items():
            evidence.write(folder, name, text)
        os.makedirs(folder, exist_ok=True)
        return put(os.path.join(folder, NAME), json.dumps(made, indent=1, allow_nan=False) + "\n")
    except OSError as trouble:
        raise OperatorError(
            f"Folder {folder}",
            "cannot write the result of the validation",
            f"The operating system reports: {trouble.strerror}",
            "Free space, fix the permissions, or set another result_dir",
            "no_result_dir",
        ) from trouble


def keep(path: str, kept: Mapping[str, Any]) -> None:
    """Write the baseline."""
    path = os.path.expanduser(path)
    try:
        put(path, baselines.text_of(kept))
    except OSError as trouble:
        raise OperatorError(
            f"File {path}",
            "cannot write the baseline",
            f"The operating system reports: {trouble.strerror}",
            "Free space, fix the permissions, or set another baseline",
            "no_baseline",
        ) from trouble


def put(path: str, text: str) -> str:
    """Write a file atomically."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    handle, made = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".result-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    # The mode of a new file of this user; temporary files are private to the owner.
    os.chmod(made, 0o666 & ~_umask())
    os.replace(made, path)
    return path


def _umask() -> int:
    # Reading the umask requires setting it.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
