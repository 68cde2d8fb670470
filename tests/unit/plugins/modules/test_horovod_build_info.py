# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.training import build
from ansible_collections.aiready.vsphere.plugins.modules import horovod_build_info

from ..module_utils.training.runs import request
from ..module_utils.training.samples import read
from .described import calls, checked

ALL = {
    "version": "0.28.1",
    "frameworks": ["pytorch"],
    "controllers": ["mpi", "gloo"],
    "operations": ["nccl", "mpi", "gloo"],
}


class Shell:
    """A system on which every command says the same."""

    def __init__(self, status=0, stdout="", stderr=""):
        self.answer = status, stdout, stderr
        self.argv = None

    def run(self, argv):
        self.argv = argv
        return self.answer


def params(**given):
    return checked(given, horovod_build_info.ARGUMENTS)


@pytest.mark.parametrize("given", calls(horovod_build_info, {}))
def test_every_example_can_be_run(given):
    assert params(**given)["image"]


def test_what_is_built_in_is_reported_with_the_documented_keys():
    shell = Shell(0, read("check_build"))
    assert horovod_build_info.look(params(), shell.run) == ("Horovod", ALL)
    assert set(ALL) == set(yaml.safe_load(horovod_build_info.RETURN)["build"]["contains"])
    assert shell.argv == ["timeout", "120", "horovodrun", "--check-build"]


def test_an_image_is_asked_in_a_container_that_is_not_kept_and_never_fetched():
    shell = Shell(0, read("check_build"))
    horovod_build_info.look(params(image="mine", container_engine="podman"), shell.run)
    assert shell.argv[2:6] == ["podman", "run", "--rm", "--pull"]
    assert shell.argv[-2:] == ["mine", "--check-build"]


@pytest.mark.parametrize(
    "status, stdout, stderr, said",
    [
        (127, "", "sh: horovodrun: not found", "The command exited with status 127: sh: horovodrun: not found."),
        (124, "", "", "The command took longer than 120 seconds."),
        (0, "Usage: horovodrun", "", "The command exited with status 0: Usage: horovodrun."),
        (0, "", "", "The command exited with status 0: no output."),
    ],
    ids=["missing", "too slow", "something else", "silent"],
)
def test_a_command_that_reports_nothing_is_an_error_whatever_its_status(status, stdout, stderr, said):
    with pytest.raises(OperatorError) as failed:
        horovod_build_info.look(params(), Shell(status, stdout, stderr).run)
    assert said in failed.value.message
    assert (failed.value.code, failed.value.data) == ("no_answer", {"status": status})


def test_everything_that_is_missing_is_reported_at_once():
    wanted = {"frameworks": ["pytorch", "mxnet"], "controllers": ["mpi"], "operations": ["ccl"]}
    with pytest.raises(OperatorError) as refused:
        build.refuse_missing("Image mine", ALL, wanted)
    assert refused.value.failure["missing"] == ["mxnet (frameworks)", "ccl (operations)"]
    build.refuse_missing("Image mine", ALL, {"frameworks": ["pytorch"], "controllers": [], "operations": ["nccl"]})


@pytest.mark.parametrize(
    "gpus, controller, missing",
    [("all", "mpi", ["nccl (operations)"]), ("none", "mpi", None), ("none", "gloo", ["gloo (controllers)"])],
)
def test_a_run_needs_its_controller_and_nccl_for_gpus(gpus, controller, missing):
    found = {"version": "1", "frameworks": ["pytorch"], "controllers": ["mpi"], "operations": ["mpi", "gloo"]}
    wanted = request(image="mine", gpus=gpus, controller=controller)
    if missing is None:
        build.refuse(wanted, found, "")
        return
    with pytest.raises(OperatorError) as refused:
        build.refuse(wanted, found, "")
    assert refused.value.failure["missing"] == missing


def test_an_image_whose_horovodrun_is_broken_says_how():
    with pytest.raises(OperatorError, match="No module named distutils"):
        build.refuse(request(image="mine"), None, "No module named distutils")
