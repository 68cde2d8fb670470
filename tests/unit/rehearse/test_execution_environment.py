"""The project of the jobs in the execution environment: the inventory of the lab, with logins from credentials only."""

from __future__ import annotations

from types import SimpleNamespace

import yaml

from rehearse import playbook
from rehearse.execution_environment import TEMPLATES, write_project


def test_the_project_has_the_inventory_of_the_lab_without_logins(tmp_path):
    write_project(tmp_path / "aiready", SimpleNamespace(port=8989, ca_file="/srv/ca.pem"))
    made = yaml.safe_load((tmp_path / "aiready" / "inventory" / "group_vars" / "all" / "site.yml").read_text())
    lab = yaml.safe_load((playbook.LAB / "group_vars" / "all" / "site.yml").read_text())
    assert set(lab) - set(made) == {"site_vcenter_password", "site_bmc_password", "site_switch_password"}
    assert made["site"]["vcenter"] == {"port": 8989, "ca_file": "/srv/ca.pem", "validate_certs": True}
    assert made["site"]["hosts"]["bmc"] == {"ca_file": "/srv/ca.pem"}
    assert (tmp_path / "aiready" / "inventory" / "endpoint.sh").stat().st_mode & 0o100


def test_the_project_has_the_playbooks_of_the_jobs(tmp_path):
    write_project(tmp_path / "aiready", SimpleNamespace(port=1, ca_file=""))
    assert {name for name in TEMPLATES if not (tmp_path / "aiready" / f"{name}.yml").is_file()} == set()
