# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Boot settings of the ESXi kernel: configured values, values of this boot, and requests. Pure."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import Any, Iterable, Iterator, Mapping, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

_TRUE = ("true", "1", "yes", "on")
_FALSE = ("false", "0", "no", "off")


@dataclass(frozen=True)
class Setting:
    """One row of `esxcli system settings kernel list`."""

    name: str
    kind: str
    configured: str
    runtime: str
    default: str

    @property
    def waits(self) -> bool:
        """Return whether this boot runs with another value than the configured one."""
        return self.means(self.configured) != self.means(self.runtime)

    def means(self, text: str) -> str:
        """Return a value in ESXi's notation: a configured one keeps its spelling, such as true or 0x20."""
        return _spelled(self, text) or text


def settings_of(rows: Iterable[Mapping[str, Any]] | None) -> dict[str, Setting]:
    """{name: Setting} of the rows that esxcli answered."""
    return {
        row["Name"]: Setting(
            name=row["Name"],
            kind=str(row.get("Type", "")),
            configured=str(row.get("Configured", "")),
            runtime=str(row.get("Runtime", "")),
            default=str(row.get("Default", "")),
        )
        for row in rows or []
    }


def want(subject: str, now: Mapping[str, Setting], requests: Mapping[str, Any]) -> dict[str, Setting]:
    """The desired settings; reports all invalid requests at once."""
    problems = [problem for name, value in sorted(requests.items()) for problem in _problems(now, name, value)]
    if problems:
        raise OperatorError(
            subject,
            f"cannot set the kernel settings {', '.join(sorted(requests))}",
            " ".join(problems),
            "Correct `settings`. `esxcli system settings kernel list` on the host shows all names and types",
            "kernel_setting_impossible",
            problems=problems,
        )
    return {
        name: replace(now[name], configured=cast(str, _spelled(now[name], value))) for name, value in requests.items()
    }


def compare(now: Mapping[str, Setting], wanted: Mapping[str, Setting]) -> list[Change]:
    """Return the values to configure; a value that this boot already runs with needs no restart."""
    return [
        Change(
            f"kernel.{name}",
            now[name].configured,
            after.configured,
            "reboot" if after.waits else None,
        )
        for name, after in sorted(wanted.items())
        if now[name].means(now[name].configured) != after.means(after.configured)
    ]


def pending(settings: Mapping[str, Setting]) -> list[dict[str, str]]:
    """Settings whose configured value waits for a restart."""
    return [
        {"what": f"kernel.{name}", "needs": "reboot"} for name, setting in sorted(settings.items()) if setting.waits
    ]


def project(settings: Mapping[str, Setting]) -> dict[str, dict[str, str]]:
    """Settings as a user sees them."""
    return {
        name: {"configured": one.configured, "runtime": one.runtime, "default": one.default}
        for name, one in sorted(settings.items())
    }


def _problems(now: Mapping[str, Setting], name: str, value: Any) -> Iterator[str]:
    if name not in now:
        near = difflib.get_close_matches(name.lower(), {known.lower(): known for known in now}, n=3, cutoff=0.7)
        spelled = [known for known in sorted(now) if known.lower() in near]
        meant = f" (near it: {', '.join(spelled)})" if spelled else ""
        yield f"The host has no kernel setting {name}{meant}.{_other_ats(name)}"
    elif value is not None and _spelled(now[name], value) is None:
        yield f"{name} is of type {now[name].kind}, which {value!r} is not."


def _other_ats(name: str) -> str:
    # Broadcom KB 319797: the ATS of VMFS is atomic test and set, and the wrong knob can cost a datastore.
    if "vmfs" in name.lower() or name.lower().startswith(("useats", "hardwareacceleratedlocking")):
        return " It looks like an option of VMFS, whose ATS is atomic test and set; PCIe ATS is atsSupport."
    return ""


def _spelled(setting: Setting, value: Any) -> str | None:
    """Return a requested value in the notation of ESXi, None if the type does not accept it; a request of None is the
    default."""
    if value is None:
        return setting.default
    text = str(value).strip()
    if setting.kind.lower() == "bool":
        if text.lower() in _TRUE + _FALSE:
            return "TRUE" if text.lower() in _TRUE else "FALSE"
        return None
    if "int" in setting.kind.lower():
        try:
            number = int(text, 0)
        except ValueError:
            return None
        return None if number < 0 and setting.kind.lower().startswith("u") else str(number)
    return text
