# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The private data folder of a job of AWX."""

from __future__ import annotations

import shlex
from types import SimpleNamespace

import pytest

from rehearse.awx_jobs import Executor, sliced

JOB = {"id": 7, "launch_type": "manual", "extra_vars": "{}", "inventory": 1, "job_type": "check"}
TEMPLATE = {"id": 3, "name": "aiready health", "project": 1, "extra_vars": "", "diff_mode": True, "forks": 0}


def test_files_with_secrets_are_private_and_a_limit_is_one_word(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    objects = SimpleNamespace(
        row=lambda _table, _number: {},
        rows=lambda _table: [],
        linked=lambda *_names: (None, []),
        projects=SimpleNamespace(folder=lambda _row: project),
    )
    executor = Executor(SimpleNamespace(objects=objects, jobs=None), tmp_path, {"VMWARE_PASSWORD": "secret"})
    more = {"verbosity": 0, "job_tags": "", "skip_tags": ""}
    folder = executor._prepared({**JOB, "unified_job_template": 3, "limit": "a, b"}, {**TEMPLATE, **more})
    modes = {name: (folder / "env" / name).stat().st_mode & 0o777 for name in ("envvars", "extravars")}
    assert modes == {"envvars": 0o600, "extravars": 0o600}
    assert shlex.split((folder / "env" / "cmdline").read_text()) == ["-u", "root", "--check", "--diff", "--limit=a, b"]


def test_slices_divide_the_hosts_by_their_names_and_keep_all_groups():
    names = [f"esx-{number:02}" for number in range(1, 6)]
    whole = {
        "_meta": {"hostvars": {name: {"own": name} for name in names}},
        "all": {"children": ["esxi_hosts", "switches"]},
        "esxi_hosts": {"hosts": names[::-1]},
        "switches": {"hosts": ["leaf-01"], "vars": {"platform": "eos"}},
    }
    first, second = (sliced(whole, number, 2) for number in (1, 2))
    assert [sorted(one["esxi_hosts"]["hosts"]) for one in (first, second)] == [names[::2], names[1::2]]
    assert [one["switches"]["hosts"] for one in (first, second)] == [[], ["leaf-01"]]
    assert [set(one["_meta"]["hostvars"]) for one in (first, second)] == [set(names[::2]), set(names[1::2])]
    assert first["switches"]["vars"] == whole["switches"]["vars"]
    assert sliced(whole, 1, 1)["_meta"] == whole["_meta"]


@pytest.mark.parametrize("count", [2, 4, 7, 100])
def test_slices_of_100_hosts_have_each_host_once_and_no_other(count):
    names = [f"esx-{number:03}" for number in range(100)]
    whole = {
        "_meta": {"hostvars": {name: {"own": name} for name in names}},
        "all": {"children": ["esxi_hosts"]},
        "esxi_hosts": {"hosts": names},
    }
    parts = [sliced(whole, number, count) for number in range(1, count + 1)]
    assert sorted(name for part in parts for name in part["esxi_hosts"]["hosts"]) == names
    sizes = [len(part["esxi_hosts"]["hosts"]) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    # Together, the slices have all that one run has.
    merged = {name: one for part in parts for name, one in part["_meta"]["hostvars"].items()}
    assert merged == whole["_meta"]["hostvars"]
