"""Options of the role awx that the controller would reject or change: each problem has its cause and fix."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.notifications import _SETTINGS as SETTINGS
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.objects import objects

from vsphere_twin.controller import notifications as controller

from .test_objects import MAIL, NEEDED

SECRET = "hunter2"
LOGIN = {"username": "u", "password": SECRET}
RULE = "DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=1"
AUTOMATION = {"name": "n", "template": "drift", "rrule": RULE}


def credential(kind, **inputs):
    return {"awx_credentials": [{"kind": kind, "inputs": inputs}]}


def notification(kind, **settings):
    return {"awx_notifications": [{"name": "n", "type": kind, "configuration": settings}]}


@pytest.mark.parametrize(
    "options, words",
    [
        (credential("bmc", user="u", password=SECRET), "the unknown field user. Use some of username, password."),
        (credential("bmc", username="u", password=123456), "password of the credential bmc .kind bmc. is not a text. "),
        (credential("vault", vault_password=None), "vault_password of .* is not a text"),
        (credential("image_registry", host="h", verify_ssl="no"), "verify_ssl of .* is not true or false"),
        (credential("machine", ssh_key_data="~/.ssh/id_rsa"), "is not a private key. Give the content of the file"),
        (credential("vcenter", host="https://vc/ui", **LOGIN), "Give the host name alone"),
        (credential("controller", host="http://awx", token=SECRET), "does not begin with https://"),
        ({"awx_credentials": [{"kind": "bmc", "name": "a"}, {"kind": "machine", "name": "a"}]}, "has a twice. Remove"),
        (notification("email", **{**MAIL, "port": "25"}), "port of the notification template n is not a number"),
        (notification("email", **{**MAIL, "port": True}), "port of the notification template n is not a number"),
        (notification("email", host="h", port=25, recipients=["r"]), "has no sender. Add it: a text"),
        (notification("email", **{**MAIL, "recipients": []}), "list recipients of .* is empty. Add an entry"),
        (notification("email", **{**MAIL, "recipients": "ops"}), "recipients of .* is not a list"),
        (notification("webhook", url="u", http_method="GET"), "must be POST or PUT"),
        ({"awx_notifications": 2 * [{"name": "n", "type": "email", "configuration": MAIL}]}, "awx_notif.* has n twice"),
        ({"awx_schedules": [AUTOMATION, AUTOMATION]}, "awx_schedules has n twice"),
        ({"awx_schedules": [{**AUTOMATION, "rrule": "FREQ=DAILY"}]}, "lacks DTSTART and RRULE: and INTERVAL=. Write"),
        ({"awx_schedules": [{**AUTOMATION, "rrule": f"{RULE[:-1]}0"}]}, "n has INTERVAL=0. Use 1 or more"),
        ({"awx_prefix": ""}, "awx_prefix is empty"),
        ({"awx_organization": "ops "}, "awx_organization is empty or begins or ends with a blank: 'ops '"),
        ({"awx_execution_environment": {"image": ""}}, "awx_execution_environment.image is empty"),
        ({"awx_forks": -1}, "awx_forks is -1. Set it to 0 or more"),
        ({"awx_workflow": {"approval_timeout_s": -5}}, "approval_timeout_s is -5"),
        ({"awx_instance_groups": [{"name": "g", "max_forks": -2}]}, "max_forks of the instance group g is -2"),
        ({"awx_sites": ["lab 1"]}, "'lab 1' cannot be a part of the variable prepared_NAME"),
        ({"awx_survey": ["gpu.profile", "gpu.profile"]}, "awx_survey has gpu.profile twice"),
        ({"awx_survey": [{"name": "a"}, {"name": "b"}]}, "An entry of awx_survey has no key. Write it as gpu.profile"),
        ({"awx_survey": [5]}, "An entry of awx_survey has no key. Write it as gpu.profile"),
        ({"awx_credentials": [{"kind": "bmc", "inputs": {5: "a", "user": "b"}}]}, "field 5. .* field user. Use"),
        ({"awx_labels": ["a", "a"]}, "awx_labels has a twice"),
    ],
)
def test_what_the_controller_would_reject_has_cause_and_fix(options, words):
    with pytest.raises(AnsibleFilterError, match=f"Cannot create the objects of AWX. .*{words}") as found:
        objects({**NEEDED, **options})
    assert SECRET not in str(found.value)


def test_a_credential_may_have_no_inputs():
    # An external secret store of the controller sets them.
    (row,) = objects({**NEEDED, "awx_credentials": [{"kind": "bmc"}]})["controller_credentials"]
    assert row["inputs"] == {}


def rule(parts):
    return objects({**NEEDED, "awx_schedules": [{**AUTOMATION, "rrule": f"{RULE};{parts}"}]})


@pytest.mark.parametrize(
    "parts, words",
    [
        ("BYMONTHDAY=99", "BYMONTHDAY is 99, which does not exist. Use 1 to 31 or -31 to -1."),
        ("bymonthday=0,-32", "BYMONTHDAY is 0,-32"),
        ("BYMONTHDAY=30;BYMONTH=2", "BYMONTHDAY is 30, which does not exist in the months 2. Use 1 to 29"),
        ("BYMONTHDAY=31;BYMONTH=4,11", "BYMONTHDAY is 31, which does not exist in the months 4,11. Use 1 to 30"),
        ("BYMONTH=13", "BYMONTH is 13, which does not exist. Use 1 to 12."),
        ("BYHOUR=-1", "BYHOUR is -1, which does not exist. Use 0 to 23."),
        ("BYWEEKNO=54", "BYWEEKNO is 54"),
        ("COUNT=1 RRULE:FREQ=DAILY;INTERVAL=1;BYYEARDAY=367", "BYYEARDAY is 367"),
    ],
)
def test_a_rule_that_never_fires_is_rejected(parts, words):
    with pytest.raises(AnsibleFilterError) as found:
        rule(parts)
    assert f"The rrule of the schedule n never fires. {words}" in str(found.value)


@pytest.mark.parametrize(
    "parts",
    [
        "BYMONTHDAY=99,-31",
        "BYMONTHDAY=29;BYMONTH=2",
        "BYMONTHDAY=31;BYMONTH=4,5",
        "BYMONTHDAY=x",
        "BYDAY=MO;BYHOUR=0;BYMINUTE=59;BYSETPOS=-1",
    ],
)
def test_a_rule_with_one_time_that_exists_is_sent(parts):
    assert rule(parts)["controller_schedules"][0]["rrule"] == f"{RULE};{parts}"


def test_methods_and_rules_may_have_small_letters():
    schedule = {"awx_schedules": [{**AUTOMATION, "rrule": RULE.lower()}]}
    assert objects({**NEEDED, **notification("webhook", url="u", http_method="put"), **schedule})


@pytest.mark.parametrize("kind", SETTINGS)
def test_the_controller_accepts_the_least_settings_and_adds_none(kind):
    values = {"a text": "POST", "a number": 1, "a list": ["a"], "a dictionary": {"a": "b"}, "true or false": True}
    least = {name: values[given[0][1]] for name, given in SETTINGS[kind].items() if len(given) == 1}
    (row,) = objects({**NEEDED, **notification(kind, **least)})["controller_notifications"]
    sent = dict(row["notification_configuration"])
    controller.check({"notification_type": kind, "notification_configuration": sent, "messages": row.get("messages")})
    assert sent == row["notification_configuration"]


def test_own_messages_have_all_events_as_the_controller_returns_them():
    own = {"success": {"message": "done", "body": ""}}
    given = {"name": "n", "type": "email", "configuration": MAIL, "messages": own}
    (row,) = objects({**NEEDED, "awx_notifications": [given]})["controller_notifications"]
    assert row["messages"] == {"started": None, "error": None, "workflow_approval": None, **own}
