"""Makes the collection and the twin importable from a plain checkout, wherever it lies."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from pathlib import Path

import pytest

# A class of ansible-core's own, private there: `ansible-test sanity` covers the public way to the same imports.
from ansible.utils.collection_loader._collection_finder import _AnsibleCollectionFinder

ROOT = Path(__file__).resolve().parent.parent
COLLECTIONS = ROOT / ".build" / "collections"


def link_collection() -> None:
    """The path that Ansible wants, as a symlink to this checkout; many test processes may come here at once."""
    link = COLLECTIONS / "ansible_collections" / "aiready" / "vsphere"
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_symlink() and link.resolve() == ROOT:
        return
    own = link.with_name(f"vsphere.{os.getpid()}")
    own.symlink_to(Path("..", "..", "..", ".."))
    own.replace(link)


link_collection()
sys.path[:0] = [str(ROOT / folder) for folder in ("tests", "tests/twin/src", "tests/twin/tests/helpers")]


def keep_compiled_tests() -> None:
    """Compile a test once for all processes that read it, where sitecustomize has run."""
    if "kept_code" in sys.modules:
        sys.modules["kept_code"].install_in_pytest()


keep_compiled_tests()


def choose_folder_for_temporary_files() -> None:
    """Where tools can cope with the path: sockets have at most 107 bytes, and scripts do not quote."""
    from supervise import runs

    if not runs.inside():
        os.environ["TMPDIR"] = tempfile.tempdir = str(runs.base())


choose_folder_for_temporary_files()


def pytest_configure(config) -> None:
    """Keep paths of tests short below the folder of a supervised command: sockets have at most 107 bytes."""
    from supervise import runs

    config.pluginmanager.import_plugin("turns")
    if runs.inside() and config.option.basetemp is None:
        config.option.basetemp = tempfile.mkdtemp(prefix="t")


@pytest.fixture(autouse=True)
def kept_environment():
    """Fail a test after which playbooks would no longer be forks of the warm server."""
    before = _variables()
    yield
    assert _variables() == before


def _variables() -> list[str | None]:
    from rehearse import playbook
    from warm import client

    return [os.environ.get(name) for name in (playbook.WARM, *client.IMPORTED)]


def pytest_collection_finish() -> None:
    """Leave the tests and all that they imported out of garbage collections."""
    gc.collect()
    gc.freeze()


def settle_twin() -> None:
    """Have the twin keep its files in this checkout, also where no supervised command has started the tests."""
    from supervise import runs

    for name, value in runs.OF_TWIN.items():
        os.environ.setdefault(name, value)


settle_twin()


def read_messages_faster() -> None:
    """Have pyVmomi and http.client work less for the same objects."""
    from warm import headers, vmomi

    headers.install()
    vmomi.install()


read_messages_faster()
# For the commands that tests start: the same collection, and nothing of the user's home.
os.environ["ANSIBLE_COLLECTIONS_PATH"] = str(COLLECTIONS)
os.environ.setdefault("ANSIBLE_HOME", str(ROOT / ".build" / "ansible-home"))
_AnsibleCollectionFinder(paths=[str(COLLECTIONS)])._install()
