"""A stage runs with a SAML token or with an existing session, and shows neither."""

from __future__ import annotations

import json
import ssl

import pytest
from pyVim.connect import SmartConnect

WHOLE = {"train-01": ["grid_a100-40c"], "train-02": ["grid_a100-40c"]}
NOTHING = {"train-01": [], "train-02": []}
SEEDS = ["small", "small-9.1"]


def without_password(lab, **login):
    """The site of the lab without a user, and its variables without a password."""
    twin = lab.twin
    vcenter = {"hostname": twin.host, "port": twin.port, "ca_file": str(twin.ca_file), **login}
    return [*lab.site(vcenter=vcenter), "--extra-vars", "site_vcenter_password="]


def token_file(lab, **options):
    path = lab.work / "token.xml"
    path.touch(mode=0o600)
    path.write_text(lab.twin.saml_token(**options))
    return path


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stage_runs_with_a_token(lab, seed):
    lab = lab(seed)
    lab.twin.world.users["jo@corp.example"] = "Sesame-0pen"
    lab.twin.world.sso.federated.add("corp.example")
    permissions = lab.twin.world.permissions
    permissions.grant(lab.twin.world.root_folder, "jo@corp.example", permissions.roles["Admin"], True)
    path = token_file(lab, user="jo@corp.example")
    run = lab.run("-vvvv", *without_password(lab, saml_token_file=str(path)))
    assert (run.status, lab.profiles()) == (0, WHOLE), run.output
    assert lab.twin.requests["LoginByToken"] == 1
    assert path.read_text()[-300:] not in run.output


def test_a_stage_runs_with_an_existing_session_and_leaves_it(lab):
    lab = lab("small-9.1")
    twin = lab.twin
    context = ssl.create_default_context(cafile=str(twin.ca_file))
    instance = SmartConnect(host=twin.host, port=twin.port, user=twin.username, pwd=twin.password, sslContext=context)
    key = instance._stub.cookie.split('"')[1]
    # In a file: Ansible prints its own arguments.
    session = lab.work / "session.json"
    session.write_text(json.dumps({"site_vcenter_session_id": key}))
    before = twin.requests["Login"]
    run = lab.run("-vvvv", *without_password(lab), "--extra-vars", f"@{session}")
    logins = twin.requests["Login"] - before
    assert (run.status, lab.profiles()) == (0, WHOLE), run.output
    # Those of the observer.
    assert logins == 0
    assert instance.content.sessionManager.currentSession is not None
    assert key not in run.output


def test_a_federated_user_is_named_with_the_keys_of_the_site(lab):
    lab = lab("small-9.1")
    vcenter = {"hostname": lab.twin.host, "port": lab.twin.port, "ca_file": str(lab.twin.ca_file)}
    run = lab.run(*lab.site(vcenter={**vcenter, "username": "jo@corp.example"}))
    assert run.status != 0
    assert "vCenter 9.1.0 blocks it" in run.text, run.output
    assert "a SAML token in `site.vcenter.saml_token_file`" in run.text
    assert lab.profiles() == NOTHING
