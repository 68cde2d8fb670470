"""What outputs of hosts in a capture add to vCenter: the driver, kernel settings, module options, ATS, MIG modes."""

from __future__ import annotations

import re

from ..model.kernel_tables import MODULES, SETTINGS

PORTS = ("nmlx5_core", "nmlx5_rdma")
# Of esxcli: the answers through vCenter, and those in the shell of the host where vCenter gave none.
FOLDERS = ("esxcli", "shell")
ADDRESS = re.compile(r"(?:(?P<domain>[0-9a-f]{4}):)?(?P<rest>[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])")
GPU = re.compile(r"\"(?:[0-9A-Fa-f]{4})?([0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])\"")
# Columns of `mlxconfig -e query`: default, current, next boot, such as `False(0) True(1) True(1)`.
ATS = re.compile(r"^[*\s]*(?:RO\s+)?ATS_ENABLED\s+\S+\s+\w*\((?P<now>[01])\)\s+\w*\((?P<next>[01])\)\s*$", re.MULTILINE)


class Shells:
    """The answers of each host, by the host's name."""

    def __init__(self, bundle):
        self._answers = {}
        by_host = {}
        for folder in FOLDERS:
            listings = (re.fullmatch(rf"hosts/([^/]+)/{folder}/commands\.json", name) for name in sorted(bundle.files))
            for listing in filter(None, listings):
                found = by_host.setdefault(listing[1], {})
                for row in bundle.listing(listing[0])["commands"]:
                    file = f"hosts/{listing[1]}/{folder}/{row['file']}"
                    found.setdefault(str(row["command"]), _read(bundle, str(row["command"]), file))
        for own, found in by_host.items():
            named = found.get("esxcli system hostname get")
            named = named if isinstance(named, dict) else {}
            for key in ("FullyQualifiedDomainName", "HostName"):
                self._answers.setdefault(str(named.get(key, "")).lower(), found)
            # A bundle of vm-support does not have the name, nor has a shell. Their folder has the one of the host.
            self._answers.setdefault(own.lower(), found)

    def of(self, host):
        """The answers of a host; empty if it was not asked."""
        lower = host.lower()
        found = self._answers.get(lower) or self._answers.get(lower.partition(".")[0]) or {}
        return {command: _tidy(answer) for command, answer in found.items()}


def _read(bundle, command, file):
    """The answer of esxcli, or the output of another command as text."""
    return bundle.data(file) if command.startswith("esxcli ") else bundle.files.get(file, "")


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


def mig_modes(answers):
    """Whether MIG is on, for each PCI address in `nvidia-smi -q -x`."""
    found = {}
    for part in str(answers.get("nvidia-smi -q -x") or "").split("<gpu id=")[1:]:
        address, mode = GPU.match(part), re.search(r"<current_mig>(Enabled|Disabled)</current_mig>", part)
        if address and mode:
            found[address[1].lower()] = mode[1] == "Enabled"
    return found


def ats(answers):
    """(current, at the next boot) of each PCI address whose mlxconfig was read; None if that lists no ATS."""
    found = {}
    for line in str(answers.get("mst status -v") or "").splitlines():
        words = line.split()
        address = ADDRESS.fullmatch(words[2]) if len(words) > 2 else None
        text = answers.get(f"mlxconfig -d {words[1]} -e query") if address else None
        if isinstance(text, str) and "Next Boot" in text:
            values = ATS.search(text)
            pair = (values["now"] == "1", values["next"] == "1") if values else None
            found[f"{address['domain'] or '0000'}:{address['rest']}"] = pair
    return found
