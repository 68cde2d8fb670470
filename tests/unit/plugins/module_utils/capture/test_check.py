# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The check after the replacements finds what is left, and nothing that was replaced."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.check import check
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table

MAC, UUID = "0c:42:a1:be:00:42", "4c4c4544-0051-5810-8032-b7c04f423633"


@pytest.fixture
def table():
    made = Table()
    made.learn("host", "esx07.finance.example.org")
    return made


def left(table, text, keep_names=False):
    return {kind: one["places"] for kind, one in check({"a": text}, table, keep_names)["left"].items()}


@pytest.mark.parametrize(
    "text, kind",
    [
        ("<ip>10.77.1.9</ip>", "IPv4 address"),
        (f"<mac>{MAC}</mac>", "MAC address"),
        (f"<uuid>{UUID}</uuid>", "UUID"),
        ("of somebody@example.org", "mail address"),
        ("0A1B2-C3D4E-F5G6H-7I8J9-K0L1M", "licence key"),
        ("-----BEGIN CERTIFICATE-----", "PEM"),
        ("secret $6$rounds$abcdefgh1234", "password hash"),
        ("host ESX07 is gone", "collected original"),
        ("esx07.finance.example.org", "collected original"),
        ("/vmfs/esx07/log", "collected original"),
    ],
)
def test_what_is_left_is_found(table, text, kind):
    assert set(left(table, text)) == {kind}


def test_pseudonyms_and_constants_are_not_found(table):
    made = [table.address("10.77.1.9"), table.mac(MAC), table.uuid(UUID)]
    constants = ["255.255.255.0", "127.0.0.1", "<version>8.0.3.0</version>", "Members@odata.count", "host-001"]
    assert left(table, "\n".join([*made, *constants])) == {}


def test_a_uuid_in_the_other_order_of_bytes_is_found(table):
    table.uuid(UUID)
    assert left(table, "44454c4c-5100-1058-8032-b7c04f423633") == {"UUID": 1, "collected original": 1}


def test_with_names_only_secrets_are_found(table):
    assert left(table, f"esx07 10.77.1.9 {MAC} $6$abcdefghijkl", keep_names=True) == {"password hash": 1}


def test_the_result_names_the_first_files(table):
    files = {f"file-{number}": "10.77.1.9" for number in range(9)}
    (found,) = check(files, table, False)["left"].values()
    assert (found["places"], len(found["files"])) == (9, 5)
