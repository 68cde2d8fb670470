# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import os_release
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

from .a_guest import ROCKY, UBUNTU

DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\nID=debian\n'
RHEL = 'NAME="Red Hat Enterprise Linux"\nID="rhel"\nVERSION_ID="8.10"\nPRETTY_NAME="Red Hat Enterprise Linux 8.10"\n'


@pytest.mark.parametrize(
    "text, family, headers",
    [
        pytest.param(UBUNTU, "debian", "linux-headers-6.1", id="Ubuntu 22.04"),
        pytest.param(DEBIAN, "debian", "linux-headers-6.1", id="Debian 12"),
        pytest.param(RHEL, "redhat", "kernel-devel-6.1", id="RHEL 8"),
        pytest.param(ROCKY, "redhat", "kernel-devel-6.1", id="Rocky 9"),
        pytest.param("ID=ubuntu\nVERSION_ID=23.10\n", "debian", "linux-headers-6.1", id="an Ubuntu in between"),
        pytest.param("ID=debian\nVERSION_ID=13\n", "debian", "linux-headers-6.1", id="a newer Debian"),
        pytest.param(
            'ID=almalinux\nVERSION_ID=9.4\nID_LIKE="rhel fedora"\n',
            "redhat",
            "kernel-devel-6.1",
            id="a relative",
        ),
        pytest.param("ID=fedora\nVERSION_ID=42\n", "redhat", "kernel-devel-6.1", id="the parent of relatives"),
    ],
)
def test_a_distribution_is_reported_by_its_file(text, family, headers):
    found = os_release.parse(text)
    assert (found.family, found.headers("6.1")) == (family, headers)


def test_names_come_without_their_quotes():
    assert str(os_release.parse(DEBIAN)) == "Debian GNU/Linux 12 (bookworm)"


@pytest.mark.parametrize("text", ["", "garbage", 'ID="unclosed\n', "# ID=debian\n", "ID=alpine\nVERSION_ID=3.20\n"])
def test_a_system_that_nobody_knows_is_refused_by_name(text):
    found = os_release.parse(text)
    with pytest.raises(OperatorError, match="neither apt nor dnf. Use one of Ubuntu 20.04/22.04/24.04, Debian 12"):
        os_release.refuse_unsupported("train-01", "cannot read the guest driver", found)


def test_the_file_is_read_where_it_is(tmp_path):
    (tmp_path / "usr/lib").mkdir(parents=True)
    (tmp_path / "usr/lib/os-release").write_text(DEBIAN)
    assert os_release.read(Files(str(tmp_path))).id == "debian"
    assert os_release.read(Files(str(tmp_path / "nowhere"))).family is None
