# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The desired licence of a guest and the changes to reach it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence import token as tokens

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence.params import LicenceRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence.state import LicenceState

MODE = f"{tokens.MODE:04o}"
PORTAL = "Create a token on the licensing portal of NVIDIA or on your licence server, and set `token`"


@dataclass(frozen=True)
class Known:
    """Tokens that the module has read, and the time."""

    # The token from the task, None without one.
    text: str | None = field(repr=False)
    # {fingerprint: Token} of the tokens on the guest and of the one from the task.
    held: Mapping[str, tokens.Token]
    # Time by the clock of the guest, in seconds.
    now_s: float


def want(label: str, now: LicenceState, requested: LicenceRequest, known: Known) -> LicenceState:
    """Return the desired state; refuses invalid requests."""
    if now.service is None:
        raise OperatorError(
            label,
            "cannot set up a licence for its vGPU" if requested.state == "present" else "cannot return its licence",
            "The guest has no service nvidia-gridd, which is a part of the guest driver",
            "Install the guest driver with the module vgpu_guest_driver first",
            "no_licence_service",
        )
    settings = {key: value for key, value in requested.settings.items() if value is not None}
    if requested.state == "absent":
        return replace(now, settings=settings, tokens={}, modes={}, service="active", current=True)
    _refuse_without_gpu(label, now, requested)
    kept = _tokens(label, now, requested, known.text)
    _refuse_bad_time(label, kept, known)
    wanted = replace(
        now,
        settings=settings,
        tokens=kept,
        modes=dict.fromkeys(kept, MODE),
        service="active",
        current=True,
    )
    if requested.proof == "licensed":
        gpus = tuple(replace(gpu, licence="Licensed") if gpu.licence else gpu for gpu in now.report.gpus)
        wanted = replace(wanted, report=replace(now.report, gpus=gpus))
    return wanted


def compare(now: LicenceState, wanted: LicenceState) -> list[Change]:
    """The changes that lead from one state to the other."""
    found = [
        Change(f"settings.{key}", now.settings.get(key), wanted.settings.get(key))
        for key in sorted({*now.settings, *wanted.settings})
        if now.settings.get(key) != wanted.settings.get(key)
    ]
    for name in sorted({*now.tokens, *wanted.tokens}):
        have, want_ = now.tokens.get(name), wanted.tokens.get(name)
        if have != want_:
            # The content of tokens stays secret.
            before = None if have is None else "another token" if want_ else "a token"
            found.append(Change(f"token.{name}", before, "the token" if want_ else None))
        elif now.modes.get(name) != wanted.modes.get(name):
            found.append(Change(f"token.{name}.mode", now.modes.get(name), wanted.modes.get(name)))
    if now.service != wanted.service:
        found.append(Change("service", now.service, wanted.service))
    elif not found and now.current != wanted.current:
        found.append(Change("service", "started before its files were written", "active"))
    return found


def _tokens(label: str, now: LicenceState, requested: LicenceRequest, text: str | None) -> dict[str, str]:
    """{name: fingerprint} of the desired tokens."""
    if text is None:
        return _the_one(label, now)
    mark = tokens.fingerprint(text)
    same = {name: held for name, held in now.tokens.items() if held == mark}
    others = sorted(name for name in now.tokens if name not in same and name != requested.token_name)
    if others and requested.other_tokens == "refuse":
        raise OperatorError(
            label,
            "cannot ensure that the service uses the token of the task",
            f"The guest has other tokens, and the service uses one of them: {', '.join(others)}",
            "Set `other_tokens: remove` to remove them",
            "other_tokens",
            tokens=others,
        )
    return same or {requested.token_name: mark}


def _the_one(label: str, now: LicenceState) -> dict[str, str]:
    """Return the present token, for a task that gives none."""
    wanted = "cannot get a licence with the token on the guest"
    if not now.tokens:
        raise OperatorError(label, wanted, "The token folder of the guest is empty", PORTAL, "no_token")
    if len(set(now.tokens.values())) > 1:
        names = sorted(now.tokens)
        raise OperatorError(
            label,
            wanted,
            f"The guest has several tokens, and the service uses one of them: {', '.join(names)}",
            "Remove all but one, or set `token` with `other_tokens: remove`",
            "other_tokens",
            tokens=names,
        )
    return dict(now.tokens)


def _refuse_without_gpu(label: str, now: LicenceState, requested: LicenceRequest) -> None:
    if requested.proof == "none" or now.status is not None:
        return
    report = now.report
    if report.gpus:
        found = "nvidia-smi reports no licence state. Its GPU needs no licence, or its driver is not the guest driver"
        raise OperatorError(
            label,
            "cannot get a licence for its vGPU",
            found,
            "Set `proof: none` if this is intended",
            "not_licensable",
        )
    raise OperatorError(
        label,
        "cannot get a licence for its vGPU",
        f"nvidia-smi shows no GPU: {report.said or 'no output'}",
        "Run the module vgpu_guest_driver, which reports the cause, and reboot if a reboot is pending",
        "no_gpu",
        symptom=report.trouble,
    )


def _refuse_bad_time(label: str, kept: Mapping[str, str], known: Known) -> None:
    for mark in kept.values():
        wrong = tokens.wrong_time(known.held.get(mark, tokens.Token()), known.now_s)
        if wrong is not None:
            raise wrong_time(label, *wrong)


def wrong_time(label: str, code: str, found: str) -> OperatorError:
    """The error for a token that is not valid at this time."""
    todo = {
        "clock_wrong": "Synchronise the clock of the guest with chrony, then run the task again",
        "token_expired": f"{PORTAL}. Check the clock of the guest too",
    }[code]
    return OperatorError(label, "cannot get a licence", found, todo, code)
