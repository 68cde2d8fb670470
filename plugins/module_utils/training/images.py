# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Published images for training, and their content. Data; docs/images.md shows all of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.look import ImageReport

TENSORFLOW, PYTORCH = "TensorFlow", "PyTorch"
NONE = "none"


@dataclass(frozen=True)
class Image:
    """One image, or several tags with the same content."""

    name: str  # as people write it
    pattern: str
    # A version, `yes` if only the presence is known, `none`, or empty if it is not published. The last is no reason to
    # refuse an image.
    horovod: str
    frameworks: tuple[str, ...]
    nccl: str = ""
    more: str = ""


# Docker and Podman pull by no other algorithm.
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
NGC, HUB = r"nvcr\.io/nvidia/", r"(?:docker\.io/)?"
# The first that fits counts.
IMAGES = (
    Image(
        "nvcr.io/nvidia/tensorflow:18.12-py3",
        NGC + r"tensorflow:18\.12(-py[23])?",
        "0.15.1",
        (TENSORFLOW,),
        "2.3.7",
        "CUDA 10.0, Open MPI 3.1.2",
    ),
    Image(
        "nvcr.io/nvidia/tensorflow:21.05-tf2-py3",
        NGC + r"tensorflow:21\.05-tf[12]-py3",
        "0.21.3",
        (TENSORFLOW,),
        "2.9.8",
        "CUDA 11.3, Open MPI 4.1.1rc1; driver 465.19.01 or newer",
    ),
    Image(
        "nvcr.io/nvidia/tensorflow:21.06-tf2-py3",
        NGC + r"tensorflow:21\.06-tf[12]-py3",
        "0.22.0",
        (TENSORFLOW,),
        "2.9.9",
    ),
    Image(
        "nvcr.io/nvidia/tensorflow:23.03-tf1-py3",
        NGC + r"tensorflow:23\.03-tf1-py3",
        "yes",
        (TENSORFLOW,),
        "",
        "the last image with TensorFlow 1",
    ),
    Image(
        "nvcr.io/nvidia/tensorflow:24.05-tf2-py3",
        NGC + r"tensorflow:24\.05-tf2-py3",
        "yes",
        (TENSORFLOW,),
        "",
        "CUDA 12.4; seen in a published run",
    ),
    Image(
        "nvcr.io/nvidia/tensorflow, other tags",
        NGC + r"tensorflow(:.*)?",
        "",
        (TENSORFLOW,),
        "",
        "25.02 is reported as the last; check an image before you use it",
    ),
    Image(
        "nvcr.io/nvidia/pytorch, every tag",
        NGC + r"pytorch(:.*)?",
        NONE,
        (PYTORCH,),
        "",
        "NVIDIA has no plan to add it: a base for an image of your own, or for `torchrun`",
    ),
    Image(
        "horovod/horovod:0.28.1",
        HUB + r"horovod/horovod:(latest|0\.28\.1)",
        "0.28.1",
        (PYTORCH, TENSORFLOW),
        "",
        "PyTorch 1.12.1, TensorFlow 2.9.2, CUDA 11.3.1, Open MPI 4.1.4",
    ),
)


def wrong_digest(image: str) -> str:
    """Return the invalid digest in the name of an image, which no engine accepts, or an empty text."""
    dummy, at, digest = image.partition("@")
    return digest or "(empty)" if at and not DIGEST.fullmatch(digest) else ""


def known(image: str) -> Image | None:
    """Return the known data of an image by its name, or None."""
    name = image.partition("@")[0]
    return next((entry for entry in IMAGES if re.fullmatch(entry.pattern, name)), None)


def nccl_of(image: str, seen: ImageReport | None = None) -> tuple[int, int] | None:
    """Return the version of NCCL in an image as (major, minor), or None if it is unknown.

    seen is the engine's report on the image, once it is present: NVIDIA's images, and all images based on them, have
    the version in their environment.
    """
    entry = known(image)
    reported = (seen["environment"] if seen else {}).get("NCCL_VERSION") or (entry.nccl if entry is not None else "")
    return version(reported)


def version(text: str | None) -> tuple[int, int] | None:
    """(major, minor) of a version such as 2.16.5 or 2.9.6-1+cuda11.3, or None."""
    found = re.match(r"(\d+)\.(\d+)", text or "")
    return (int(found.group(1)), int(found.group(2))) if found is not None else None


def lack(image: str, engine: str) -> tuple[str, str] | None:
    """Return (a part that an engine needs and this image is known to lack, the fix); None if no part is known to
    lack.
    """
    entry = known(image)
    if entry is None:
        return None
    if engine == "horovod" and entry.horovod == NONE:
        return "Horovod", "Use the engine torchrun, or build an image with the recipe of the role horovod"
    if engine in ("torchrun", "deepspeed") and PYTORCH not in entry.frameworks:
        return PYTORCH, "Use the engine horovod, or an image with PyTorch"
    return None
