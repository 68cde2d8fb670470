"""What nvidia-smi reports of the driver of a guest, also where it is missing or does not answer."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import NOT_FOUND, Done
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.read import EFI_VARIABLE, Look
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files


class Smi:
    """Commands of a guest whose nvidia-smi answers this."""

    def __init__(self, **done):
        self.done = done

    def run(self, argv, **_limits):
        return Done(tuple(argv), **self.done)


@pytest.mark.parametrize(
    "done, trouble, said",
    [
        ({"rc": NOT_FOUND}, "not_installed", "The program nvidia-smi is not installed."),
        ({"rc": 0, "timed_out": True}, "unknown", "`nvidia-smi -q` timed out: no output."),
    ],
    ids=["it is missing", "it hangs"],
)
def test_an_nvidia_smi_that_does_not_answer_is_reported(done, trouble, said):
    report = Look(Smi(**done), None, None, None, "", "").report()
    assert (report.trouble, report.said) == (trouble, said)


@pytest.mark.parametrize(
    "content, folder, expected",
    [
        (b"\x06\0\0\0\x01", True, True),
        (b"\x06\0\0\0\0", True, False),
        (None, True, None),
        (None, False, False),
    ],
    ids=["on", "off", "cannot be read", "no EFI"],
)
def test_secure_boot_is_read_from_the_variable_of_efi(tmp_path, content, folder, expected):
    files = Files(str(tmp_path))
    path = tmp_path / EFI_VARIABLE.lstrip("/")
    if folder:
        path.parent.mkdir(parents=True)
    if content is not None:
        path.write_bytes(content)
    assert Look(None, files, None, None, "", "")._secure_boot() is expected
