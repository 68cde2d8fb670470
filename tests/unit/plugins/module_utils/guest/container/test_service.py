"""What is reported of the journal of a service that failed."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Done
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.service import WORDS_LINES, Service

SYSTEMD = [
    "Starting docker.service - Docker Application Container Engine...",
    "docker.service: Failed with result 'exit-code'.",
]
CHATTER = [
    'time="2026-04-14T09:08:07.020692018Z" level=info msg="Default bridge (docker0) is assigned"',
    'time="2026-04-14T09:08:07.120692018Z" level=debug msg="Listener created"',
]
FAILS = [
    'time="2026-04-14T09:08:08.133138962Z" level=error msg="unable to configure the Docker daemon"',
    "failed to start daemon",
]


class Journal:
    """A journal that has a line only after it was asked to take what is there, as one beside a busy disk."""

    def __init__(self, lines):
        self._lines, self._taken = lines, []

    def run(self, argv, limit_s=60):
        if argv == ["journalctl", "--sync"]:
            self._taken = self._lines
            return Done(tuple(argv), 0, "", "")
        own = argv[1] == "_SYSTEMD_UNIT=docker.service"
        lines = [line for line in self._taken if not (own and line in SYSTEMD)]
        (most,) = [int(word.split("=")[1]) for word in argv if word.startswith("--lines=")]
        return Done(tuple(argv), 0, "\n".join(lines[-most:]), "")


def words(lines):
    return Service("docker.service", Journal(lines)).last_words()


def test_the_journal_takes_what_was_said_before_it_is_read():
    assert words(FAILS) == " / ".join(FAILS)


@pytest.mark.parametrize(
    "before, after",
    [([], []), (CHATTER * 500, CHATTER * WORDS_LINES), ([], SYSTEMD * WORDS_LINES)],
    ids=["alone", "among what it does", "before systemd tried it again"],
)
def test_what_ails_a_service_is_reported_and_nothing_else(before, after):
    assert words([*before, *FAILS, *after]) == " / ".join(FAILS)


def test_of_a_service_that_said_nothing_systemd_is_heard():
    assert words(SYSTEMD) == words([*CHATTER, *SYSTEMD]) == " / ".join(SYSTEMD)


def test_a_service_that_reported_only_what_it_does_is_reported_so():
    assert words(CHATTER) == " / ".join(CHATTER)
    assert words([]) == words(["-- No entries --"]) == "nothing"
