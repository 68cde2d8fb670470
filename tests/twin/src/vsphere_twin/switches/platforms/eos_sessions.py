"""Arista EOS: configuration sessions, which are committed as a whole, with a timer if need be, or thrown away."""

from __future__ import annotations

import itertools
import re

from .. import tree
from ..grammar import Wrong
from .eos import MOST_PENDING
from .eos_rules import Refusal

_names = itertools.count(1)


def declare(grammar):
    """Add the commands of sessions."""
    for (modes, *patterns), handler in (
        (
            (
                "enable",
                "configure session [ <name:WORD> ]",
            ),
            configure_session,
        ),
        (
            (
                "enable config",
                "configure session <name:WORD> commit [ timer <time:WORD> ]",
                "commit [ timer <time:WORD> ]",
            ),
            commit,
        ),
        (
            (
                "enable config",
                "configure session <name:WORD> abort",
                "no configure session <name:WORD>",
                "abort",
            ),
            abort,
        ),
        (
            (
                "config",
                "rollback clean-config",
            ),
            clean,
        ),
        (
            (
                "exec config",
                "show session-config [ diffs=diffs ]",
                "show session-config named <name:WORD> [ diffs=diffs ]",
            ),
            show_session,
        ),
        (
            (
                "exec",
                "show configuration sessions [ detail ]",
            ),
            show_sessions,
        ),
    ):
        grammar.on(modes, *patterns)(handler)


def configure_session(cli, name=None):
    sessions = cli.device.sessions
    name = name or f"sess-{next(_names)}"
    if name not in sessions:
        if len(sessions) >= MOST_PENDING:
            raise Refusal(
                "% Maximum number of pending sessions has been reached. Please commit or abort previous sessions "
                "before creating a new one."
            )
        sessions[name] = cli.device.config.copy()
    cli.session = name
    cli.places[:] = [("config", [sessions[name]], "")]


def commit(cli, name=None, time=None):
    device, chosen = cli.device, name or cli.session
    seconds = None
    if time is not None:
        if not re.match(r"\d+:\d\d:\d\d$", time):
            raise Refusal("% Invalid input")
        hours, minutes, rest = (int(part) for part in time.split(":"))
        seconds = hours * 3600 + minutes * 60 + rest
    if device.awaited is not None:
        if device.awaited[0] != chosen:
            raise Refusal("% Cannot commit session due to another session's commit timer.")
        if chosen not in device.sessions:
            device.awaited = None  # the second commit confirms
            return ""
    if chosen is None:
        raise Wrong("invalid", 0, "commit")
    if chosen not in device.sessions:
        raise Refusal(f"% Configuration session {chosen} does not exist.")
    device.commit(chosen, seconds)
    if cli.session == chosen:
        cli.leave()
    return ""


def abort(cli, name=None):
    device, chosen = cli.device, name or cli.session
    if chosen is None:
        if cli.places:
            cli.leave()  # outside of sessions it only leaves
            return ""
        raise Wrong("invalid", 0, "abort")
    if device.awaited is not None and device.awaited[0] == chosen and chosen not in device.sessions:
        device.go_back()  # before it is confirmed, abort goes back at once [unsure]
        return ""
    if device.sessions.pop(chosen, None) is None:
        raise Refusal(f"% Configuration session {chosen} does not exist.")
    if cli.session == chosen:
        cli.leave()
    return ""


def clean(cli):
    if not cli.session:
        raise Wrong("invalid", 0, "rollback")
    cli.device.sessions[cli.session] = fresh = cli.device._factory()
    cli.places[:] = [("config", [fresh], "")]


def show_session(cli, name=None, diffs=None):
    chosen = name or cli.session
    if chosen not in cli.device.sessions:
        raise Refusal("% Not in a configuration session")
    candidate, device = cli.device.sessions[chosen], cli.device
    if not diffs:
        return device.text(candidate, "session-config")
    found = tree.differences(device.body(device.config), device.body(candidate))
    if not found:
        return ""
    return "".join(
        f"{line}\n" for line in ["--- system:/running-config", f"+++ session:/{chosen}-session-config", *found[2:]]
    )


def show_sessions(cli):
    device = cli.device
    states = {name: {"state": "pending"} for name in device.sessions}
    if device.awaited is not None:
        states[device.awaited[0]] = {"state": "pendingCommitTimer"}

    def reported(as_json):
        if as_json:
            return {"maxSavedSessions": 1, "maxOpenSessions": MOST_PENDING, "sessions": states}
        rows = "".join(f"  {name:<24} {state['state']}\n" for name, state in states.items())
        return (
            f"Maximum number of completed sessions: 1\nMaximum number of pending sessions: {MOST_PENDING}\n"
            f"\n  Name                     State\n  ------------------------ -----------------\n{rows}"
        )

    return reported
