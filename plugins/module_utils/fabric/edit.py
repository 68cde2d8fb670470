# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""One edit of one switch, with the way back: it ends in the old or in the new state, and says in which."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Mapping, Protocol, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare, verify
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Lost, Refused

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Edit, Platform
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.qos import View
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Session

    class Clock(Protocol):
        """What of the module time is used."""

        def monotonic(self) -> float: ...

        def sleep(self, seconds: float, /) -> None: ...


NEW, OLD, UNKNOWN, UNCHANGED = "new", "old", "unknown", "unchanged"
# Between two looks while the switch and its peers settle.
PAUSE_S = 1.0
TOLD = 5  # gaps that a message names


@dataclass
class End:
    """How an edit ended."""

    outcome: str
    view: View | None = None
    error: OperatorError | None = None
    saved: bool = False
    unknown: list[str] = field(default_factory=list)


class Guarded:
    """Carries out an edit. look() reads the switch again and returns a View."""

    def __init__(
        self,
        platform: Platform,
        session: Session,
        params: Mapping[str, Any],
        look: Callable[[], View],
        clock: Clock = time,
    ) -> None:
        self._platform = platform
        self._session = session
        self._params = params
        self._look = look
        self._clock = clock
        self._name = session.name

    def run(self, edit: Edit | None, before: View, wanted: View, intent: Intent) -> End:
        """The End of an edit from before to wanted (Views); edit is None where only saving is left."""
        try:
            if edit is not None:
                self._platform.apply(self._session, edit)
            view, left, unknown = self._settled(before, wanted, intent)
            if left:
                return self._back(edit, before, self._not_proved(left))
            return self._keep(edit, view, unknown)
        except Refused as refusal:
            return self._back(edit, before, self._refused(refusal))
        except OperatorError as error:
            return self._stopped(edit, before, error)
        except Lost as loss:
            return self._found_again(edit, before, wanted, intent, loss)

    def _settled(self, before: View, wanted: View, intent: Intent) -> tuple[View, list[str], list[str]]:
        """Look until the switch runs what was wanted, or the time is up."""
        until = self._clock.monotonic() + self._params["verify_timeout_s"]
        while True:
            view = self._look()
            left, unknown = self._left(before, view, wanted, intent)
            if not left or self._clock.monotonic() >= until:
                return view, left, unknown
            self._clock.sleep(PAUSE_S)

    def _left(self, before: View, view: View, wanted: View, intent: Intent) -> tuple[list[str], list[str]]:
        exact = self._params["state"] != "merged"
        left = [str(change) for change in compare.changes(view.effects, wanted.wants, exact)]
        if self._params["state"] == "absent":
            return left + [f"{name} is still there." for name in wanted.objects if name in view.switch.own], []
        strays = self._platform.strays(view.switch, wanted.wants, intent, exact)
        left += [f"{name} holds {held}, {asked} was requested." for name, (held, asked) in sorted(strays.items())]
        if not exact:
            left += verify.dropped(before.effects, view.effects, intent)
        gaps, unknown = verify.gaps(view.switch, wanted.wants, intent, exact)
        return left + gaps + verify.stuck(before.switch, view.switch, wanted.wants), unknown

    def _keep(self, edit: Edit | None, view: View, unknown: list[str]) -> End:
        try:
            if edit is not None:
                self._platform.confirm(self._session, edit)
        except Refused as refusal:
            return End(UNKNOWN, view, self._not_confirmed(refusal, cast("Edit", edit)), unknown=unknown)
        if self._params["save"] == "never":
            return End(NEW, view, unknown=unknown)
        try:
            self._save()
        except (Refused, Lost) as trouble:
            return End(NEW, view, self._not_saved(trouble), unknown=unknown)
        view.switch.unsaved = False if view.switch.unsaved is not None else None
        return End(NEW, view, saved=True, unknown=unknown)

    def _save(self) -> None:
        try:
            self._platform.save(self._session)
        except Lost:
            # Whether it was done is not known, and twice does no harm.
            self._reconnect()
            self._platform.save(self._session)

    def _stopped(self, edit: Edit | None, before: View, error: OperatorError) -> End:
        """The platform would not go on. Mostly it did not begin: then nothing is taken back that others began."""
        try:
            view = self._look()
        except (Refused, Lost):
            return self._back(edit, before, error)
        if compare.changes(view.effects, before.effects):
            return self._back(edit, before, error)
        return End(UNCHANGED, view, self._ended(error, UNCHANGED, "Nothing was changed."))

    def _back(self, edit: Edit | None, before: View, error: OperatorError) -> End:
        """Return to what was there; the error becomes that of the task, with where the switch is now."""
        try:
            return self._returned(edit, before, error)
        except Lost:
            pass
        try:
            self._reconnect()
            return self._returned(edit, before, error)
        except Lost as loss:
            return End(UNKNOWN, None, self._ended(error, UNKNOWN, f"{loss}. {self._way_back(edit)}"))

    def _returned(self, edit: Edit | None, before: View, error: OperatorError) -> End:
        complaint = ""
        if edit is not None:
            try:
                self._platform.revert(self._session, edit, before.switch)
            except Refused as refusal:
                complaint = f"The way back failed too: {refusal}."
        view: View | None
        try:
            view = self._look()
        except Refused as refusal:
            view, complaint = None, complaint or f"It went back, and cannot be read any more: {refusal}."
        if view is None or compare.changes(view.effects, before.effects):
            between = complaint or "It is not what it was before, either."
            return End(UNKNOWN, view, self._ended(error, UNKNOWN, f"{between} {self._way_back(edit)}"))
        return End(OLD, view, self._ended(error, OLD, "The switch is as it was before."))

    def _found_again(self, edit: Edit | None, before: View, wanted: View, intent: Intent, loss: Lost) -> End:
        """The connection broke: whatever the switch did is seen when it answers again."""
        try:
            self._reconnect()
            if not compare.changes(self._look().effects, wanted.wants, self._params["state"] != "merged"):
                view, left, unknown = self._settled(before, wanted, intent)
                if not left:
                    return self._keep(edit, view, unknown)
                return self._back(edit, before, self._not_proved(left))
        except Refused as refusal:
            return self._back(edit, before, self._refused(refusal))
        except Lost as second:
            return End(UNKNOWN, None, self._ended(self._lost(second), UNKNOWN, self._way_back(edit)))
        return self._back(edit, before, self._lost(loss))

    def _reconnect(self) -> None:
        until = self._clock.monotonic() + self._params["reconnect_timeout_s"]
        while True:
            try:
                self._session.reconnect()
                return
            except Lost:
                if self._clock.monotonic() >= until:
                    raise
            except Refused as refusal:
                # It lets nobody in yet, such as while it starts.
                if self._clock.monotonic() >= until:
                    raise Lost(refusal.command, refusal.complaint) from refusal
            self._clock.sleep(PAUSE_S)

    def _way_back(self, edit: Edit | None) -> str:
        return self._platform.way_back(edit) if edit is not None else ""

    def _refused(self, refusal: Refused) -> OperatorError:
        return OperatorError(
            self._name,
            "the change was to be made",
            str(refusal),
            "Check the release of the switch, and what it has for the objects in the command",
            "refused",
            command=refusal.command,
            complaint=refusal.complaint,
        )

    def _lost(self, loss: Lost) -> OperatorError:
        return OperatorError(
            self._name,
            "the change was to be made",
            str(loss),
            "Check the way to the switch, and run the task again",
            "connection_lost",
            command=loss.command,
        )

    def _not_proved(self, left: Sequence[str]) -> OperatorError:
        return not_proved(self._name, "the switch took the change and should now run it", left)

    def _not_confirmed(self, refusal: Refused, edit: Edit) -> OperatorError:
        return OperatorError(
            self._name,
            "the change runs and was to be confirmed",
            str(refusal),
            self._platform.way_back(edit),
            "not_confirmed",
            outcome=UNKNOWN,
        )

    def _not_saved(self, trouble: Refused | Lost) -> OperatorError:
        return not_saved(self._name, trouble, "What runs is new; the startup configuration is the old one", NEW)

    def _ended(self, error: OperatorError, outcome: str, sentence: str) -> OperatorError:
        return OperatorError(
            error.subject,
            error.wanted,
            error.found,
            f"{sentence} {error.todo}",
            error.code,
            **dict(error.data, outcome=outcome),
        )


def not_proved(name: str, wanted: str, left: Sequence[str]) -> OperatorError:
    """The error of a switch that is set as wanted, and does not run so."""
    told = left if len(left) <= TOLD else [*left[:TOLD], f"and {len(left) - TOLD} more."]
    return OperatorError(
        name,
        wanted,
        " ".join(told),
        "Look there for what the hardware or its licence does not do",
        "not_proved",
        left=left,
    )


def not_saved(name: str, trouble: Refused | Lost, state: str, outcome: str) -> OperatorError:
    """The error of a switch that runs as wanted, and forgets it with a restart."""
    return OperatorError(
        name,
        "what runs was to be kept over a restart",
        f"{trouble}. {state}",
        "Make room on the switch, and run the task again",
        "not_saved",
        outcome=outcome,
    )
