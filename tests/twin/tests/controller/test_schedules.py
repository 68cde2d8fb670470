"""When a schedule of the controller runs next."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "rule, enabled, following",
    [
        ("DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=1", True, "T02:00:00Z"),
        (
            "DTSTART;TZID=Asia/Tokyo:20260101T020000 RRULE:FREQ=DAILY;INTERVAL=1;UNTIL=29990101T000000",
            True,
            "T17:00:00Z",
        ),
        ("DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=1", False, None),
        ("DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=1;COUNT=1", True, None),
        ("DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=1;UNTIL=20260102T000000Z", True, None),
        ("DTSTART:20260101T020000Z RRULE:FREQ=MONTHLY;INTERVAL=1;BYMONTHDAY=99", True, None),
    ],
)
def test_a_schedule_has_its_next_run(client, rule, enabled, following):
    organization = client.make("organizations", name="ops")
    number = client.make("projects", name="p", organization=organization, scm_type="git", scm_url="/none")
    first = "DTSTART:20260101T030000Z RRULE:FREQ=DAILY;INTERVAL=1"
    made = client.make("schedules", name="s", unified_job_template=number, rrule=first, next_run="2020")
    assert client.get(f"schedules/{made}/")["next_run"].endswith("T03:00:00Z")
    client.ask("PATCH", f"schedules/{made}/", {"rrule": rule, "enabled": enabled})
    found = client.get(f"schedules/{made}/")["next_run"]
    assert found.endswith(following) if following else found is None


def test_a_day_that_dateutil_cannot_compute_is_rejected(client):
    organization = client.make("organizations", name="ops")
    number = client.make("projects", name="p", organization=organization, scm_type="git", scm_url="/none")
    rule = "DTSTART:20260101T030000Z RRULE:FREQ=YEARLY;INTERVAL=1;BYEASTER=999999999"
    answer = client.ask("POST", "schedules/", {"name": "s", "unified_job_template": number, "rrule": rule})
    assert (answer.status, list(answer.body)) == (400, ["rrule"])
