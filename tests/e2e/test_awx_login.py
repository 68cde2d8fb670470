"""The role awx with a wrong address, certificate, login or scope: the message has the cause and the fix."""

from __future__ import annotations

import json
import os

import requests
import yaml

from rehearse import playbook

AWX = playbook.ROOT / "playbooks" / "awx.yml"
OPTIONS = {
    "awx_project": {"scm_url": "https://git.example.org/aiready.git"},
    "awx_execution_environment": {"image": "images.example.org/aiready:1"},
}


def test_a_controller_that_cannot_be_used_is_reported_with_its_fix(lab):
    lab = lab(faces=("controller",))
    login, ca_file = lab.twin.controller.endpoint(), str(lab.twin.ca_file)
    words = {"auth": (login["username"], login["password"]), "verify": ca_file, "timeout": 30}
    token = requests.post(f"{login['url']}/api/v2/tokens/", json={"scope": "read"}, **words).json()["token"]
    good = {"CONTROLLER_HOST": login["url"], "CONTROLLER_OAUTH_TOKEN": token, "SSL_CERT_FILE": ca_file}
    cases = {
        ("Unable to resolve", "Set CONTROLLER_HOST to the address"): {"CONTROLLER_HOST": "https://awx.invalid"},
        ("CERTIFICATE_VERIFY_FAILED", "Set SSL_CERT_FILE to the file"): {"SSL_CERT_FILE": os.devnull},
        ("HTTP 401", "Set CONTROLLER_OAUTH_TOKEN to a valid token"): {"CONTROLLER_OAUTH_TOKEN": "unknown"},
        ("HTTP Error 401", "or CONTROLLER_USERNAME and CONTROLLER_PASSWORD."): {
            "CONTROLLER_OAUTH_TOKEN": "",
            "CONTROLLER_USERNAME": login["username"],
            "CONTROLLER_PASSWORD": "unknown",
        },
        ("403", "Use a token with the scope Write"): {},
    }
    here = lab.work / "hosts.yml"
    local = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    here.write_text(yaml.safe_dump({"all": {"hosts": {"localhost": local}}}))
    for (cause, fix), changes in cases.items():
        run = lab.run("--extra-vars", json.dumps(OPTIONS), of=AWX, inventory=here, env={**good, **changes})
        assert run.status != 0
        text = " ".join(run.text.split())
        print(text[-900:])
        assert "Cannot configure the organization aiready on the controller https://" in text
        assert cause in text
        assert fix in text
        assert token not in text
