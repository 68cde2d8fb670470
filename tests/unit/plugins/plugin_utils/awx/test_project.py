"""The variables of the sample project: the site that a survey selects, with the answers, and checked host keys."""

from __future__ import annotations

import shutil

import pytest
import yaml
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible.vars.manager import VariableManager
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.relaxed import unchecked

from house.collection import ROOT

OTHER = {"prepared_lab": {"name": "lab", "gpu": {"mode": "vgpu", "profile": "grid_a100-10c"}}}


@pytest.fixture
def project(tmp_path):
    """The inventory of the project with a second prepared site and a guest of the run, and the variables."""
    inventory = tmp_path / "inventory"
    shutil.copytree(ROOT / "extensions" / "awx" / "project" / "inventory", inventory)
    (inventory / "group_vars" / "all" / "prepared_lab.yml").write_text(yaml.safe_dump(OTHER))
    loader = DataLoader()
    hosts = InventoryManager(loader=loader, sources=[str(inventory / "hosts.yml")])
    hosts.add_host("train-01", group="training_guests")
    return hosts, VariableManager(loader=loader, inventory=hosts)


@pytest.fixture
def site_with(project):
    """The site of localhost with extra variables, as a job has it."""
    hosts, variables = project

    def evaluated(**answers):
        known = variables.get_vars(host=hosts.get_host("localhost")) | answers
        return Templar(loader=DataLoader(), variables=known).template(known["site"])

    return evaluated


@pytest.mark.parametrize("choice", [{}, {"site_choice": ""}, {"site_choice": "default"}])
def test_no_choice_is_the_default_site(site_with, choice):
    assert site_with(**choice)["name"] == "training"


def test_the_choice_names_the_end_of_a_variable_and_keeps_the_answers(site_with):
    found = site_with(site_choice="lab", site_answer_gpu__profile="grid_a100-40c")
    assert found == {"name": "lab", "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"}}


def test_an_unknown_choice_names_the_missing_variable(site_with):
    words = "The variable prepared_elsewhere is not set. Set it in inventory/group_vars/all/prepared_elsewhere.yml"
    with pytest.raises(Exception, match=words):
        site_with(site_choice="elsewhere")


@pytest.mark.parametrize("name", ["esx-01.example.org", "leaf-01.example.org", "train-01"])
def test_host_keys_are_checked_although_awx_disables_it(project, name):
    hosts, variables = project
    assert unchecked(variables.get_vars(host=hosts.get_host(name)), by_default="False") == ""
