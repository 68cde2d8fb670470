# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What the licence of a guest shall be, and what leads there. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence import token as tokens

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence.state import LicenceState

MODE = f"{tokens.MODE:04o}"
PORTAL = "Make one on the licensing portal of NVIDIA or on your licence server, and give it as `token`"


def want(label: str, now: LicenceState, wish: Mapping[str, Any]) -> LicenceState:
    """The state that is asked for; what is impossible is refused.

    wish: the options, `settings` as text, `text` with the token that the task gives, and `held`, the tokens by their
    fingerprints as {fingerprint: Token}.
    """
    if now.service is None:
        raise OperatorError(
            label,
            "a licence for its vGPU was to be set up"
            if wish["state"] == "present"
            else "its licence was to be given back",
            "The guest has no service nvidia-gridd, which comes with the guest driver",
            "Install the guest driver first; the module vgpu_guest_driver does it",
            "no_licence_service",
        )
    settings = {key: value for key, value in wish["settings"].items() if value is not None}
    if wish["state"] == "absent":
        return replace(now, settings=settings, tokens={}, modes={}, service="active", current=True)
    _refuse_without_gpu(label, now, wish)
    kept = _tokens(label, now, wish)
    _refuse_bad_time(label, kept, wish)
    wanted = replace(
        now,
        settings=settings,
        tokens=kept,
        modes=dict.fromkeys(kept, MODE),
        service="active",
        current=True,
    )
    if wish["proof"] == "licensed":
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
            # What is in them is nobody's business.
            before = None if have is None else "another token" if want_ else "a token"
            found.append(Change(f"token.{name}", before, "the token" if want_ else None))
        elif now.modes.get(name) != wanted.modes.get(name):
            found.append(Change(f"token.{name}.mode", now.modes.get(name), wanted.modes.get(name)))
    if now.service != wanted.service:
        found.append(Change("service", now.service, wanted.service))
    elif not found and now.current != wanted.current:
        found.append(Change("service", "started before its files were written", "active"))
    return found


def _tokens(label: str, now: LicenceState, wish: Mapping[str, Any]) -> dict[str, str]:
    """{name: fingerprint} of the tokens that there shall be."""
    if wish["text"] is None:
        return _the_one(label, now)
    mark = tokens.fingerprint(wish["text"])
    same = {name: held for name, held in now.tokens.items() if held == mark}
    others = sorted(name for name in now.tokens if name not in same and name != wish["token_name"])
    if others and wish["other_tokens"] == "refuse":
        raise OperatorError(
            label,
            "the token of the task shall be the one that is used",
            f"There are other tokens beside it, of which the service takes one: {', '.join(others)}",
            "Say `other_tokens: remove` if they may go",
            "other_tokens",
            tokens=others,
        )
    return same or {wish["token_name"]: mark}


def _the_one(label: str, now: LicenceState) -> dict[str, str]:
    """The token that is there already, for a task that gives none."""
    wanted = "a licence was to be taken with the token that is on the guest"
    if not now.tokens:
        raise OperatorError(label, wanted, "There is none in its folder of tokens", PORTAL, "no_token")
    if len(set(now.tokens.values())) > 1:
        names = sorted(now.tokens)
        raise OperatorError(
            label,
            wanted,
            f"There are several, of which the service takes one: {', '.join(names)}",
            "Leave the right one there, or give it as `token` with `other_tokens: remove`",
            "other_tokens",
            tokens=names,
        )
    return dict(now.tokens)


def _refuse_without_gpu(label: str, now: LicenceState, wish: Mapping[str, Any]) -> None:
    if wish["proof"] == "none" or now.status is not None:
        return
    report = now.report
    if report.gpus:
        found = "Its GPU needs no licence, or its driver is not the guest driver: nvidia-smi tells of no licence"
        raise OperatorError(
            label,
            "its vGPU shall have a licence",
            found,
            "Say `proof: none` where that is meant to be",
            "not_licensable",
        )
    raise OperatorError(
        label,
        "its vGPU shall have a licence",
        f"nvidia-smi shows no GPU: {report.said or 'it said nothing'}",
        "Run the module vgpu_guest_driver, which tells why, and reboot if it says so",
        "no_gpu",
        symptom=report.trouble,
    )


def _refuse_bad_time(label: str, kept: Mapping[str, str], wish: Mapping[str, Any]) -> None:
    for mark in kept.values():
        wrong = tokens.wrong_time(wish["held"].get(mark, tokens.Token()), wish["now_s"])
        if wrong is not None:
            raise wrong_time(label, *wrong)


def wrong_time(label: str, code: str, found: str) -> OperatorError:
    """The error for a token whose time is not now."""
    todo = {
        "clock_wrong": "Set the clock of the guest, best by chrony, and run the task again",
        "token_expired": f"{PORTAL}. Look at the clock of the guest too",
    }[code]
    return OperatorError(label, "a licence was to be taken", found, todo, code)
