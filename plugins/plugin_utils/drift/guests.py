# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Drift inside guests, from the checks of the role guest_vm. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.row import (
    AS_REQUESTED,
    EVERYTHING,
    Row,
    differs,
    of_items,
    refused,
    unread,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import failed
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.guest_files import LIMITS_FILE, MODULES_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

STAGE = "guests"
# Answers of the role's modules, with the subject of a refusal.
MODULES = {
    "rdma": "RDMA devices",
    "nic": "adapter",
    "driver": "driver",
    "licence": "licence",
    "mig": "MIG",
    "roce": "RoCE traffic class",
}
# Other reads of the role, without which these settings are unknown.
READS = {
    "systemd": "limits of services",
    "logind": "logind.RemoveIPC",
    "chrony": "service.chrony",
    "user": "training user",
    "keys": "authorized_keys",
    "known_hosts": "known_hosts",
}
# Files of the training user with entries of all guests.
OF_USER = {"keys": "authorized_keys", "known_hosts": "known_hosts"}
WHO = ("*", "root")


def guests(requested: Iterable[str], previews: Mapping[str, Mapping[str, Any] | None]) -> Iterator[Row]:
    """requested: names of the site's guests. previews: {name: guest_vm_preview, or nothing if it was not read}."""
    for name in requested:
        preview = previews.get(name)
        if not preview or not preview.get("plan"):
            why = "It was not read. It is off, has no address, does not answer, or is not as the stage guests requires."
            cause = str((preview or {}).get("unread") or "")
            yield unread(STAGE, name, EVERYTHING, f"It was not read. {cause}" if cause else why)
            continue
        broken = _broken(preview["answers"])
        if broken is not None:
            yield refused(STAGE, name, EVERYTHING, broken)
            continue
        yield from list(_guest(name, preview)) or [Row(STAGE, name, EVERYTHING, AS_REQUESTED)]


def _broken(answers: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The answer of a basic read that failed, without which missing looks like changed. cat ends with 1 for no file."""
    listed, read = answers["packages"], answers["files"]
    if failed(listed) or listed.get("rc") is None:
        return listed if failed(listed) else {"failed": True, "msg": "The list of packages was not read."}
    for one in read.get("results") or [read]:
        if failed(one) or one.get("rc") not in (0, 1):
            return one if failed(one) else {"failed": True, "msg": "Files of the guest were not read."}
    return None


def _guest(name: str, preview: Mapping[str, Any]) -> Iterator[Row]:
    plan, answers = preview["plan"], preview["answers"]
    for problem in plan["problems"]:
        yield unread(STAGE, name, "request", str(problem))
    for step, subject in READS.items():
        if failed(answers[step]):
            yield refused(STAGE, name, subject, answers[step])
    for package in plan["packages"]["missing"]:
        yield differs(STAGE, name, f"package.{package}", "installed", "not installed")
    for setting, requested, found in (
        *_limits(plan, answers),
        *_services(answers),
        *_account(str(preview.get("user") or ""), answers),
        *_files(plan, preview.get("ntp_servers") or [], answers),
    ):
        yield differs(STAGE, name, setting, requested, found)
    if preview.get("user") and plan["peers"]["known"] and not answers["user"].get("changed"):
        for step, file in OF_USER.items():
            if not answers[step] or answers[step].get("skipped"):
                why = "It was not compared, because the SSH key of the user of another guest is not known."
                yield unread(STAGE, name, f"user.{preview['user']}.{file}", why)
    if plan["rdma"]["due"] and "rdma" in answers["rdma"]:
        for module in plan["rdma"]["not_loaded"]:
            yield differs(STAGE, name, f"module.{module}", "loaded", "not loaded")
    for step, subject in MODULES.items():
        yield from of_items(STAGE, name, subject, answers.get(step))


def _limits(plan: Mapping[str, Any], answers: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The limits of services that systemd does not have, and those of logins that the file does not have."""
    effective = dict(line.partition("=")[::2] for line in answers["systemd"].get("stdout_lines") or ())
    for line in plan["limits"]["shown"]:
        setting, _equals, value = line.partition("=")
        if effective and effective.get(setting) != value:
            yield f"limits.{setting}", value, effective.get(setting, "")
    found = _pairs(_lines(answers, LIMITS_FILE))
    for line in plan["limits"]["logins"]:
        for who in WHO:
            key, value = _pair(f"{who} {line}")
            if found.get(key) != value:
                yield f"limits.{key}", value, found.get(key, "")


def _pairs(lines: Iterable[str]) -> dict[str, str]:
    return dict(_pair(line) for line in lines if len(line.split()) > 1)


def _pair(line: str) -> tuple[str, str]:
    """A limit without its value, and the value."""
    words = line.split()
    return " ".join(words[:-1]), words[-1]


def _services(answers: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    if answers["logind"].get("stdout") == "b true":
        yield "logind.RemoveIPC", "no", "yes"
    status = answers["chrony"].get("status") or {}
    if answers["chrony"].get("changed"):
        if status.get("ActiveState") != "active":
            yield "service.chrony", "active", str(status.get("ActiveState") or "not active")
        if status.get("UnitFileState") != "enabled":
            yield "service.chrony.boot", "enabled", str(status.get("UnitFileState") or "not enabled")


def _account(user: str, answers: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The training user and its SSH key, and its files with the keys of all guests."""
    if user and answers["user"].get("changed"):
        found = "different" if "uid" in answers["user"] else "missing"
        yield f"user.{user}", "shell /bin/bash and an SSH key", found
    for step, file in OF_USER.items():
        if user and answers[step].get("changed"):
            yield f"user.{user}.{file}", "entries of all guests", "different or missing entries"


def _files(
    plan: Mapping[str, Any], servers: Iterable[str], answers: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    requested = list(servers)
    lines = [line.split() for line in _lines(answers, plan["chrony"]["file"])]
    used = [words[1] for words in lines if len(words) > 1 and words[0] in ("server", "pool", "peer")]
    if requested and used != requested:
        yield "ntp.servers", requested, used
    if plan["rdma"]["due"]:
        listed = [line for line in _lines(answers, MODULES_FILE) if not line.startswith("#")]
        for module in plan["rdma"]["modules"]:
            if module not in listed:
                yield f"module.{module}.boot", "loaded", "not loaded"


def _lines(answers: Mapping[str, Any], path: str) -> list[str]:
    """The lines of a file; none of one that is missing."""
    for one in answers["files"].get("results") or ():
        if one.get("item") == path and one.get("rc") == 0:
            return [line.strip() for line in one.get("stdout_lines") or ()]
    return []
