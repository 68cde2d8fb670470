"""What the esxcli answers of hosts in a capture add to vCenter: the driver, kernel settings, module options."""

from __future__ import annotations

import re

from ..model.kernel_tables import MODULES, SETTINGS

PORTS = ("nmlx5_core", "nmlx5_rdma")


class Shells:
    """The answers of each host, by the host's name."""

    def __init__(self, bundle):
        self._answers = {}
        for name in sorted(bundle.files):
            parts = name.split("/")
            if len(parts) == 4 and parts[0] == "hosts" and parts[3] == "commands.json" and parts[2] == "esxcli":
                rows = bundle.listing(name)["commands"]
                found = {str(row["command"]): bundle.data(name.replace(parts[3], str(row["file"]))) for row in rows}
                named = found.get("esxcli system hostname get")
                named = named if isinstance(named, dict) else {}
                for key in ("FullyQualifiedDomainName", "HostName"):
                    self._answers.setdefault(str(named.get(key, "")).lower(), found)
                # A bundle of vm-support does not have the name. Its folder has the one of the host.
                self._answers.setdefault(parts[1].lower(), found)

    def of(self, host):
        """The answers of a host; empty if it was not asked."""
        lower = host.lower()
        found = self._answers.get(lower) or self._answers.get(lower.partition(".")[0]) or {}
        return {command: _tidy(answer) for command, answer in found.items()}


def _tidy(answer):
    """An answer; of a list, its rows."""
    return [row for row in answer if isinstance(row, dict)] if isinstance(answer, list) else answer


def driver(answers):
    """(family, version) of the host driver in the list of VIBs, or None if the list was not read."""
    vibs = answers.get("esxcli software vib list")
    if vibs is None:
        return None
    for row in _rows(vibs):
        found = re.match(r"NVD-(AIE|VGPU)", str(row.get("Name", "")))
        if found:
            return {"AIE": "nvaie", "VGPU": "graphics"}[found[1]], str(row.get("Version", "")).partition("-")[0]
    return "none", ""


def _rows(answer):
    return answer if isinstance(answer, list) else []


def settings(answers):
    """The keys of a seed that the answers have: configured kernel settings that differ, and options of modules."""
    made = {}
    rows = _rows(answers.get("esxcli system settings kernel list"))
    changed = [row for row in rows if row.get("Configured") != row.get("Default")]
    kernel = {row["Name"]: row["Configured"] for row in changed if row.get("Name") in SETTINGS}
    if kernel:
        made["kernel"] = kernel
    options = {}
    for command, found in answers.items():
        module = re.fullmatch(r"esxcli system module parameters list (?:-m|--module[= ]|.*=)? ?(\w+)", command)
        known = MODULES.get(module[1], {}) if module else {}
        rows = [row for row in _rows(found) if row.get("Value") and row.get("Name") in known] if known else []
        values = [f"{row['Name']}={row['Value']}" for row in rows]
        if values and module[1] in PORTS:
            options[module[1]] = " ".join(values)
    if options:
        made["module_options"] = options
    return made
