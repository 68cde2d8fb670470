"""The role installs the key of a repository when its fingerprint is expected, and otherwise keeps the installed one."""

from __future__ import annotations

import hashlib

import pytest
import yaml

from rehearse import playbook

BODY = b"\x04" + bytes(range(100))
KEY = b"\xc6" + bytes([len(BODY)]) + BODY
PRINT = hashlib.sha1(b"\x99" + len(BODY).to_bytes(2, "big") + BODY).hexdigest().upper()
NVIDIA = "C95B321B61E88C1809C4F759DDCAE044F796ECB0"
# As a site leaves it out or gives it. What the role expects then is in its plan.
EXPECTED = "{{ __container_runtime_plan.toolkit_repository.fingerprints }}"


@pytest.fixture(name="install")
def _install(tmp_path):
    """Runs the role's tasks for a downloaded file; the installed key is another one."""
    installed = tmp_path / "installed.asc"
    installed.write_bytes(b"old")

    def run(downloaded, check=False, **repository):
        (tmp_path / "key").write_bytes(downloaded)
        variables = {
            "container_runtime_toolkit_repository": repository,
            "__container_runtime_key_file": str(tmp_path / "key"),
            "__container_runtime_repository": {
                "name": "toolkit",
                "key": str(installed),
                "key_url": "https://mirror.example.org/gpgkey",
                "fingerprints": EXPECTED,
                "setting": "site.runtime.toolkit_repository",
            },
        }
        role = {"name": "aiready.vsphere.container_runtime", "tasks_from": "verified_key"}
        play = {
            "hosts": "localhost",
            "gather_facts": False,
            "vars": variables,
            "tasks": [{"ansible.builtin.include_role": role}],
        }
        path = tmp_path / "play.yml"
        path.write_text(yaml.safe_dump([play], sort_keys=False))
        words = ["--check"] if check else []
        return playbook.run(path, "--connection", "local", *words, env=playbook.environment(tmp_path)), installed

    return run


@pytest.mark.parametrize("given", [{"key_fingerprints": [PRINT]}, {"key_fingerprints": [NVIDIA, PRINT]}])
def test_an_expected_key_is_installed_once(install, given):
    first, installed = install(KEY, **given)
    assert first.status == 0, first.output
    assert installed.read_bytes() == KEY
    again, _installed = install(KEY, **given)
    assert [first.changed, again.changed] == [1, 0]


@pytest.mark.parametrize(
    "check, given",
    [(False, {}), (True, {"url": "https://mirror.example.org/stable"})],
    ids=["vendor", "mirror, preview"],
)
def test_another_key_is_refused_and_the_installed_one_stays(install, check, given):
    run, installed = install(KEY, check, **given)
    assert run.status != 0
    assert installed.read_bytes() == b"old"
    assert (
        "Cannot trust the key of the repository toolkit on localhost. It comes from https://mirror.example.org/gpgkey. "
        f"The file holds the key {PRINT}. Expected is {NVIDIA}. If the owner of the repository confirms the new key, "
        "add its fingerprint to site.runtime.toolkit_repository.key_fingerprints."
    ) in run.text


def test_a_file_that_is_no_key_is_refused(install):
    run, installed = install(b"<html>Sign in</html>")
    assert run.status != 0
    assert "The file holds no readable OpenPGP key: it has no PGP PUBLIC KEY BLOCK." in run.text
    assert installed.read_bytes() == b"old"


def test_a_file_that_is_too_large_is_refused_before_it_is_read(install):
    run, installed = install(KEY + bytes(1 << 20))
    assert run.status != 0
    assert f"has {len(KEY) + (1 << 20)} bytes, and a key has less than 1 MiB" in run.text
    assert installed.read_bytes() == b"old"


def test_an_empty_list_installs_any_key(install):
    run, installed = install(b"no key", key_fingerprints=[])
    assert run.status == 0, run.output
    assert installed.read_bytes() == b"no key"
