"""The role awx with a wrong address, certificate, login or scope: the message has the cause and the fix."""

from __future__ import annotations

import json
import os

from .awx import AWX, access, here, token_of

OPTIONS = {
    "awx_project": {"scm_url": "https://git.example.org/aiready.git"},
    "awx_execution_environment": {"image": "images.example.org/aiready:1"},
}


def test_a_controller_that_cannot_be_used_is_reported_with_its_fix(lab):
    lab = lab(faces=("controller",))
    token, inventory = token_of(lab.twin, scope="read"), here(lab)
    good = access(lab.twin, token)
    cases = {
        ("Unable to resolve", "Set CONTROLLER_HOST to the address"): {"CONTROLLER_HOST": "https://awx.invalid"},
        ("CERTIFICATE_VERIFY_FAILED", "Set SSL_CERT_FILE to the file"): {"SSL_CERT_FILE": os.devnull},
        ("HTTP 401", "Set CONTROLLER_OAUTH_TOKEN to a valid token"): {"CONTROLLER_OAUTH_TOKEN": "unknown"},
        ("HTTP Error 401", "or CONTROLLER_USERNAME and CONTROLLER_PASSWORD."): {
            "CONTROLLER_OAUTH_TOKEN": "",
            "CONTROLLER_USERNAME": lab.twin.controller.endpoint()["username"],
            "CONTROLLER_PASSWORD": "unknown",
        },
        ("403", "Use a token with the scope Write"): {},
    }
    for (cause, fix), changes in cases.items():
        run = lab.run("--extra-vars", json.dumps(OPTIONS), of=AWX, inventory=inventory, env={**good, **changes})
        assert run.status != 0
        text = " ".join(run.text.split())
        print(text[-900:])
        assert "Cannot configure the organization aiready on the controller https://" in text
        assert cause in text
        assert fix in text
        assert token not in text
