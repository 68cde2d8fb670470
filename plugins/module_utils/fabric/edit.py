# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""One edit of one switch with rollback: it ends in the old or the new state, and reports which."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Callable, Protocol, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare, verify
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Lost, Refused

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.params import QosRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Edit, Platform
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.qos import View
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Session

    class Clock(Protocol):
        """The used part of the module time."""

        def monotonic(self) -> float: ...

        def sleep(self, seconds: float, /) -> None: ...


NEW, OLD, UNKNOWN, UNCHANGED = "new", "old", "unknown", "unchanged"
# Between two reads while the switch and its peers settle.
PAUSE_S = 1.0
SHOWN = 5  # most gaps in a message


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
        request: QosRequest,
        look: Callable[[], View],
        clock: Clock = time,
    ) -> None:
        self._platform = platform
        self._session = session
        self._request = request
        self._look = look
        self._clock = clock
        self._name = session.name

    def run(self, edit: Edit | None, before: View, wanted: View, intent: Intent) -> End:
        """The End of an edit from before to wanted (Views); edit is None if only the save is missing."""
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
        """Read until the switch runs the desired state, or the time is up."""
        until = self._clock.monotonic() + self._request.verify_timeout_s
        while True:
            view = self._look()
            left, unknown = self._left(before, view, wanted, intent)
            if not left or self._clock.monotonic() >= until:
                return view, left, unknown
            self._clock.sleep(PAUSE_S)

    def _left(self, before: View, view: View, wanted: View, intent: Intent) -> tuple[list[str], list[str]]:
        exact = self._request.exact
        left = [str(change) for change in compare.changes(view.effects, wanted.wants, exact)]
        if self._request.gone:
            return left + [f"{name} still exists." for name in wanted.objects if name in view.switch.own], []
        strays = self._platform.strays(view.switch, wanted.wants, intent, exact)
        left += [f"{name} has {held} instead of {asked}." for name, (held, asked) in sorted(strays.items())]
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
        if self._request.save == "never":
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
            # It is unknown whether the save ran, and a second save does no harm.
            self._reconnect()
            self._platform.save(self._session)

    def _stopped(self, edit: Edit | None, before: View, error: OperatorError) -> End:
        """The platform stopped. Usually it did not start, and then changes of others are not rolled back."""
        try:
            view = self._look()
        except (Refused, Lost):
            return self._back(edit, before, error)
        if compare.changes(view.effects, before.effects):
            return self._back(edit, before, error)
        return End(UNCHANGED, view, self._ended(error, UNCHANGED, "Nothing was changed."))

    def _back(self, edit: Edit | None, before: View, error: OperatorError) -> End:
        """Roll back; the error becomes that of the task, with the state of the switch added."""
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
                complaint = f"The rollback failed too. {refusal}."
        view: View | None
        try:
            view = self._look()
        except Refused as refusal:
            view, complaint = None, complaint or f"The rollback ended, but the switch cannot be read. {refusal}."
        if view is None or compare.changes(view.effects, before.effects):
            between = complaint or "The switch does not have its previous configuration either."
            return End(UNKNOWN, view, self._ended(error, UNKNOWN, f"{between} {self._way_back(edit)}"))
        return End(OLD, view, self._ended(error, OLD, "The switch has its previous configuration again."))

    def _found_again(self, edit: Edit | None, before: View, wanted: View, intent: Intent, loss: Lost) -> End:
        """The connection broke; the next read shows what the switch did."""
        try:
            self._reconnect()
            if not compare.changes(self._look().effects, wanted.wants, self._request.exact):
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
        until = self._clock.monotonic() + self._request.reconnect_timeout_s
        while True:
            try:
                self._session.reconnect()
                return
            except Lost:
                if self._clock.monotonic() >= until:
                    raise
            except Refused as refusal:
                # It rejects logins for now, such as while it starts.
                if self._clock.monotonic() >= until:
                    raise Lost(refusal.command, refusal.complaint) from refusal
            self._clock.sleep(PAUSE_S)

    def _way_back(self, edit: Edit | None) -> str:
        return self._platform.way_back(edit) if edit is not None else ""

    def _refused(self, refusal: Refused) -> OperatorError:
        return OperatorError(
            self._name,
            "cannot apply the change",
            str(refusal),
            "Check that the release of the switch supports the command and its objects",
            "refused",
            command=refusal.command,
            complaint=refusal.complaint,
        )

    def _lost(self, loss: Lost) -> OperatorError:
        return OperatorError(
            self._name,
            "cannot apply the change",
            str(loss),
            "Check the network connection to the switch, and run the task again",
            "connection_lost",
            command=loss.command,
        )

    def _not_proved(self, left: Sequence[str]) -> OperatorError:
        return not_proved(self._name, "the change is configured but not effective", left)

    def _not_confirmed(self, refusal: Refused, edit: Edit) -> OperatorError:
        return OperatorError(
            self._name,
            "cannot confirm the change, which is running",
            str(refusal),
            self._platform.way_back(edit),
            "not_confirmed",
            outcome=UNKNOWN,
        )

    def _not_saved(self, trouble: Refused | Lost) -> OperatorError:
        state = "The new configuration runs, but the startup configuration is still the old one"
        return not_saved(self._name, trouble, state, NEW)

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
    """The error of a switch that is configured as desired but does not run so."""
    reported = left if len(left) <= SHOWN else [*left[:SHOWN], f"and {len(left) - SHOWN} more."]
    return OperatorError(
        name,
        wanted,
        " ".join(reported),
        "Check that the hardware and the licences of the switch support these settings",
        "not_proved",
        left=left,
    )


def not_saved(name: str, trouble: Refused | Lost, state: str, outcome: str) -> OperatorError:
    """The error of a switch that runs as desired but loses that with a restart."""
    return OperatorError(
        name,
        "cannot save the running configuration",
        f"{trouble}. {state}",
        "Free space on the switch, and run the task again",
        "not_saved",
        outcome=outcome,
    )
