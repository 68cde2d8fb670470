# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import params

LOGIN = {"hostname": "vcenter", "username": "user", "password": "secret"}
INIT = {"userdata": "#cloud-config"}


def checked(**options):
    validated = ArgumentSpecValidator(params.ARGUMENTS).validate({**LOGIN, "template": "t", **options})
    assert validated.error_messages == []
    return validated.validated_parameters


def requested(entry, **task):
    return params.requests(checked(vms=[{"name": "a", **entry}], **task))[0]


def test_an_entry_says_what_is_its_own_and_the_task_the_rest():
    found = requested({"host": "esx-02"}, host="esx-01", folder="training", annotation="notes")
    assert (found.host, found.folder, found.annotation) == ("esx-02", "training", "notes")


def test_parts_of_cloud_init_come_from_the_entry_and_from_the_task():
    found = requested({"cloud_init": {"metadata": {"local-hostname": "a"}}}, cloud_init=INIT)
    assert found.cloud_init == {"metadata": {"local-hostname": "a"}, "userdata": "#cloud-config"}


def test_an_entry_with_a_customization_leaves_the_cloud_init_of_the_task():
    found = requested({"customization": {"spec": "linux"}}, cloud_init=INIT)
    assert found.cloud_init is None
    assert found.customization.spec == "linux"


def test_options_that_are_null_are_not_set():
    found = requested({"cloud_init": {"metadata": None, "userdata": None}, "customization": None})
    assert (found.cloud_init, found.customization) == (None, None)


@pytest.mark.parametrize(
    "options, says",
    [
        ({"vms": []}, "vms is empty; list at least one VM."),
        ({"vms": [{"name": "a"}], "template": None}, "template or library_item is needed to create VMs"),
        ({"vms": [{"name": "a"}], "library_item": "x"}, "template and library_item are both set"),
        ({"vms": [{"name": "a"}], "library": "x"}, "library is set without library_item; set library_item too"),
        ({"vms": [{"name": "a"}], "disk_gb": -1}, "disk_gb is -1; use 0, or a size of up to 63488 GB (62 TB)."),
        ({"vms": [{"name": "a"}], "disk_gb": 63489}, "disk_gb is 63489; use 0, or a size of up to 63488 GB (62 TB)."),
        ({"vms": [{"name": "a"}, {"name": "A"}]}, "VM a is listed 2 times; list it once."),
        ({"vms": [{"name": " "}]}, "VM (without a name): name is empty; set it."),
        ({"vms": [{"name": "a" * 81}]}, "the name has 81 characters; vSphere allows at most 80."),
        ({"vms": [{"name": "a\tb"}]}, "the name contains a control character."),
        (
            {"vms": [{"name": "a", "cloud_init": INIT, "customization": {"spec": "x"}}]},
            "VM a: cloud_init and customization are both set",
        ),
        (
            {"vms": [{"name": "a"}], "cloud_init": INIT, "customization": {"spec": "x"}},
            "cloud_init and customization are both set; a guest uses only one of them",
        ),
        ({"vms": [{"name": "a", "cloud_init": {"metadata": [1]}}]}, "cloud_init.metadata is a list; it must be"),
        ({"vms": [{"name": "a", "cloud_init": {"metadata": "{no json"}}]}, "looks like JSON, but is not"),
        ({"vms": [{"name": "a", "cloud_init": {"userdata": " "}}]}, "cloud_init.userdata is empty"),
        (
            {"vms": [{"name": "a", "customization": {"spec": "x", "domain": "y"}}]},
            "customization.spec is set, and domain too; a saved specification already contains these settings.",
        ),
        ({"vms": [{"name": "a", "customization": {"hostname": "y"}}]}, "customization needs spec, or domain"),
    ],
)
def test_wrong_input_is_refused_before_anybody_is_asked(options, says):
    assert says in " ".join(params.check_params(checked(**options)))


def test_nothing_is_wrong_with_a_plain_call():
    assert params.check_params(checked(vms=[{"name": "a"}])) == []
