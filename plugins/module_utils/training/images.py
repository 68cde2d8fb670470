# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Which published images hold Horovod, and what else is in them. Data.

sure is False where nobody has published that it works; such an image is taken all the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Image:
    """One image, or several tags that hold the same. horovod: its version, 'yes', or '' for none."""

    pattern: str
    horovod: str
    framework: str = ""
    cuda: str = ""
    nccl: str = ""
    mpi: str = ""
    note: str = ""
    sure: bool = True


NGC, HUB = r"nvcr\.io/nvidia/", r"(?:docker\.io/)?"
IMAGES = (
    Image(NGC + r"tensorflow:18\.12(-py[23])?", "0.15.1", "tensorflow 1", "10.0", "2.3.7", "Open MPI 3.1.2"),
    Image(NGC + r"tensorflow:21\.05-tf[12]-py3", "0.21.3", "tensorflow", "11.3", "2.9.8", "Open MPI 4.1.1rc1"),
    Image(NGC + r"tensorflow:21\.06-tf[12]-py3", "0.22.0", "tensorflow", "", "2.9.9", ""),
    Image(NGC + r"tensorflow:23\.03-tf1-py3", "yes", "tensorflow 1", note="The last image with TensorFlow 1."),
    Image(NGC + r"tensorflow:24\.05-tf2-py3", "yes", "tensorflow 2", "12.4"),
    Image(
        NGC + r"tensorflow:25\.02-tf2-py3",
        "yes",
        "tensorflow 2.17",
        "12.8",
        note="Said to be the last image with TensorFlow; that it holds Horovod was not seen.",
        sure=False,
    ),
    Image(
        NGC + r"pytorch:.*",
        "",
        "torch",
        note="NVIDIA ships none with PyTorch. Use engine: torchrun, or build an image by the recipe of role horovod",
    ),
    Image(
        HUB + r"horovod/horovod:(latest|0\.28\.1)",
        "0.28.1",
        "torch 1.12.1, tensorflow 2.9.2",
        "11.3.1",
        "",
        "Open MPI 4.1.4",
    ),
    Image(HUB + r"horovod/horovod-cpu:(latest|0\.28\.1)", "0.28.1", "torch, tensorflow", sure=False),
)
# Open MPI 3.1.3 hangs with Horovod.
BAD_MPI = ("3.1.3",)


def known(image):
    """What is known of an image by its name, or None."""
    name = image.partition("@")[0]
    return next((entry for entry in IMAGES if re.fullmatch(entry.pattern, name)), None)


def nccl_of(image):
    """The version of NCCL in an image as (major, minor), or None where it is not known."""
    entry = known(image)
    if entry is None or not entry.nccl:
        return None
    return tuple(int(number) for number in entry.nccl.split(".")[:2])
