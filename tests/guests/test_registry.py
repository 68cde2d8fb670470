"""The lab's registry: who may come in, who vouches for it, and that it holds the training image from the start."""

from __future__ import annotations

import base64
import json
import ssl
import urllib.error
import urllib.request

import pytest

from vsphere_twin.guests import training_image
from vsphere_twin.vcenter.certificates import server_context


@pytest.fixture
def registry(lab_registry):
    return lab_registry


def ask(registry, path, login=None, ca_file=None):
    """What it answers, as data."""
    where = registry.endpoint()
    request = urllib.request.Request(f"https://{where['address']}/v2/{path}")
    request.add_header("Accept", "application/vnd.docker.distribution.manifest.v2+json")
    if login:
        request.add_header("Authorization", f"Basic {base64.b64encode(':'.join(login).encode()).decode()}")
    context = ssl.create_default_context(cafile=ca_file or where["ca_file"])
    with urllib.request.urlopen(request, context=context, timeout=300) as answer:
        return json.load(answer)


def login(registry):
    """User and password, as those who know them have them."""
    return registry.endpoint()["username"], registry.endpoint()["password"]


@pytest.mark.parametrize(
    "who",
    [
        pytest.param(lambda _right: None, id="nobody"),
        pytest.param(lambda right: (right[0], "wrong"), id="a wrong password"),
        pytest.param(lambda right: ("oauthtoken", right[1]), id="a user without the dollar"),
    ],
)
def test_only_who_has_the_login_comes_in(registry, who):
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(registry, "", who(login(registry)))
    assert (refused.value.code, refused.value.headers["WWW-Authenticate"]) == (401, 'Basic realm="lab"')


def test_the_user_is_named_as_that_of_ngc(registry):
    assert registry.endpoint()["username"] == "$oauthtoken"


def test_the_training_image_is_there(registry):
    assert ask(registry, f"{training_image.NAME}/tags/list", login(registry)) == {
        "name": training_image.NAME,
        "tags": [training_image.VERSION],
    }


def test_every_layer_of_the_training_image_is_there(registry):
    manifest = ask(registry, f"{training_image.NAME}/manifests/{training_image.VERSION}", login(registry))
    assert len(manifest["layers"]) > 1
    where = registry.endpoint()
    for layer in [manifest["config"], *manifest["layers"]]:
        url = f"https://{where['address']}/v2/{training_image.NAME}/blobs/{layer['digest']}"
        request = urllib.request.Request(url, method="HEAD")
        request.add_header("Authorization", f"Basic {base64.b64encode(':'.join(login(registry)).encode()).decode()}")
        context = ssl.create_default_context(cafile=where["ca_file"])
        with urllib.request.urlopen(request, context=context, timeout=300) as answer:
            assert int(answer.headers["Content-Length"]) == layer["size"]


def test_another_authority_does_not_vouch_for_it(registry, tmp_path):
    _context, third_party = server_context(tmp_path)
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        ask(registry, "", login(registry), third_party)


def test_a_guest_reaches_it_and_trusts_it(guests, registry):
    where = registry.endpoint()
    argv = ["curl", "--silent", "--show-error", "--fail", "--user", ":".join(login(registry))]
    status, out, reported = guests.guest("job-01").run([*argv, f"https://{where['address']}/v2/_catalog"])
    assert (status, json.loads(out or "{}")) == (0, {"repositories": [training_image.NAME]}), reported


def test_the_password_is_in_no_log_and_in_no_description_of_the_container(guests, registry):
    described = guests.twin.guests.client.api.inspect_container(registry._container.id)
    assert login(registry)[1] not in registry.log() + json.dumps(described)
