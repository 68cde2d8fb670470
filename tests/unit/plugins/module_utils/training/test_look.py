# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What the script prints about a guest before a training, read as a whole."""

from __future__ import annotations

import base64
import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.training import look

MAPPED = "0000:0000:0000:0000:0000:ffff:c0a8:320b"
IMAGE = {
    "Id": "sha256:1",
    "RepoDigests": ["b@sha256:2", "a@sha256:1"],
    "Config": {"Env": ["PATH=/bin", "EMPTY=", "BARE", "A=b=c"]},
    "Architecture": "amd64",
}
TEXT = """
net ens192 1500 up
net ens224 9000 down
net ens256 9000
addr ens192 192.0.2.11/24
addr ens224 192.168.50.11
addr ens224 192.168.50.12/x
gid mlx5_0 1 3 {mapped} ens224 RoCE_v2
gid mlx5_0 1 2 {mapped} ens224 IB/RoCE_v1
down mlx5_1 2 INIT
rdma /dev/infiniband/uverbs0
rdma /dev/infiniband/rdma_cm
gpu GPU-1
gpu GPU-2
engine 27.1.1
said Cannot connect
said to the daemon
image {image}
left c1 run-1 true 12
left c2 run-2 false -
left c3 ../x true 1
work not writable
taken 8080
taken 6379
"""


def encoded(reported):
    return base64.b64encode(json.dumps(reported).encode()).decode()


def test_everything_that_is_printed_is_read():
    text = TEXT.format(mapped=MAPPED, image=encoded([IMAGE]))
    gids = (
        look.Gid("mlx5_0", 1, 3, MAPPED, "RoCE v2", "ens224"),
        look.Gid("mlx5_0", 1, 2, MAPPED, "IB/RoCE v1", "ens224"),
    )
    seen = look.parse("job-01", text)
    assert seen == look.Look(
        name="job-01",
        interfaces={"ens192": (1500, True), "ens224": (9000, False), "ens256": (9000, True)},
        addresses={"ens192": [("192.0.2.11", 24)], "ens224": [("192.168.50.11", 32)]},
        gids=gids,
        ports_down=("mlx5_1 port 2: INIT",),
        rdma_files=("/dev/infiniband/uverbs0", "/dev/infiniband/rdma_cm"),
        gpus=2,
        engine="27.1.1",
        engine_said="Cannot connect to the daemon",
        image={
            "id": "sha256:1",
            "digests": ["a@sha256:1", "b@sha256:2"],
            "environment": {"PATH": "/bin", "EMPTY": "", "BARE": "", "A": "b=c"},
            "architecture": "amd64",
        },
        leftovers=(look.Leftover("c1", "run-1", True, 12), look.Leftover("c2", "run-2", False, None)),
        work_dir="not writable",
        ports_taken=(6379, 8080),
    )
    assert seen.interface_of("192.168.50.11") == "ens224"
    assert seen.interface_of("192.168.50.99") is None
    assert seen.gid_of("ens224", "192.168.50.11") == gids[0]
    assert seen.gid_of("ens192", "192.168.50.11") is None
    assert seen.gid_of("ens224", "192.168.50.12") is None


def test_a_guest_of_which_nothing_is_printed_is_the_empty_one():
    assert look.parse("job-01", "") == look.Look(name="job-01")


def test_an_image_may_be_reported_without_a_list_and_without_parts():
    reported = {"id": "", "digests": [], "environment": {}, "architecture": ""}
    assert look.parse("job-01", f"image {encoded({'Config': None})}").image == reported


@pytest.mark.parametrize(
    "gid, address",
    [
        (MAPPED, "192.168.50.11"),
        ("0000:0000:0000:0000:0000:ffff:0102:ff00", "1.2.255.0"),
        ("fe80:0000:0000:0000:0250:56ff:fe9a:1001", ""),
        ("0000:0000:0000:0000:0000:0000:c0a8:320b", ""),
        ("ffff:c0a8:320b", ""),
    ],
)
def test_the_address_of_a_gid(gid, address):
    assert look.Gid("mlx5_0", 1, 3, gid, "RoCE v2", "ens224").address == address
