# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Published images: what is known of them, and that the guide shows the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.training import images

GUIDE = (Path(__file__).parents[5] / "docs" / "images.md").read_text(encoding="utf-8")
TF, TORCH = "nvcr.io/nvidia/tensorflow", "nvcr.io/nvidia/pytorch"


def test_the_table_of_the_guide_is_the_data_of_the_module():
    block = GUIDE.split("<!-- images -->\n")[1].split("<!-- end -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()[2:]]
    assert [[row[0].replace("`", ""), *row[1:]] for row in rows] == [
        [entry.name, entry.horovod or "not published", ", ".join(entry.frameworks), entry.nccl, entry.more]
        for entry in images.IMAGES
    ]


@pytest.mark.parametrize("entry", images.IMAGES, ids=lambda entry: entry.name)
def test_each_image_is_found_by_its_own_name(entry):
    written = entry.name.replace(", other tags", ":99.01-tf2-py3").replace(", every tag", ":99.01-py3")
    assert images.known(written) is entry


@pytest.mark.parametrize(
    "image, engine, lacks",
    [
        (f"{TORCH}:24.05-py3", "horovod", "Horovod"),
        (f"{TORCH}:24.05-py3@sha256:0", "horovod", "Horovod"),
        (f"{TORCH}@sha256:{'0' * 64}", "horovod", "Horovod"),
        (f"{TF}@sha256:{'0' * 64}", "torchrun", "PyTorch"),
        (f"{TORCH}:24.05-py3", "torchrun", None),
        (f"{TF}:24.05-tf2-py3", "torchrun", "PyTorch"),
        (f"{TF}:24.05-tf2-py3", "horovod", None),
        (f"{TF}:25.02-tf2-py3", "horovod", None),
        ("images.example.com/nvidia/pytorch:24.05-py3", "horovod", None),
        ("docker.io/horovod/horovod:0.28.1", "torchrun", None),
    ],
)
def test_only_what_is_known_speaks_against_an_image(image, engine, lacks):
    found = images.lack(image, engine)
    assert (found and found[0]) == lacks


@pytest.mark.parametrize(
    "image, version",
    [(f"{TF}:21.05-tf1-py3", (2, 9)), (f"{TF}:24.05-tf2-py3", None), ("images.example.com/mine:1", None)],
)
def test_the_version_of_nccl_is_reported_where_it_is_known(image, version):
    assert images.nccl_of(image) == version


@pytest.mark.parametrize(
    "environment, version",
    [
        ({"NCCL_VERSION": "2.16.5"}, (2, 16)),
        ({"NCCL_VERSION": "2.9.9-1+cuda11.3"}, (2, 9)),
        ({"NCCL_VERSION": "newest"}, None),
        ({"NCCL_VERSION": ""}, None),
        ({}, None),
    ],
)
def test_an_image_reports_its_nccl_itself(environment, version):
    assert images.nccl_of("images.example.com/mine:1", {"environment": environment}) == version
