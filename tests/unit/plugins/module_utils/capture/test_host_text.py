"""The outputs of hosts and guests keep what the collection reads of them, and lose the texts of the site."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.host_text import HostText
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.shell_commands import devices
from ansible_collections.aiready.vsphere.plugins.module_utils.host import mlxconfig
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import inventory, listing
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import topology

SAMPLES = Path(__file__).parent / "samples"
PUBLIC = Path(__file__).parents[4] / "twin/tests/data/nvidia_smi"
LISTINGS = {"lgip": listing.profiles, "lgipp": listing.placements, "lgi": listing.instances}


@pytest.fixture
def text():
    table = Table(salt=b"x" * 32)
    table.learn("vm", "train-01")
    return HostText(Scrubber(table))


def own(name):
    return (SAMPLES / name).read_text()


@pytest.mark.parametrize("path", sorted(PUBLIC.glob("*__lg*.txt")), ids=lambda path: path.stem)
def test_the_lists_of_mig_stay(text, path):
    raw = path.read_text()
    read = LISTINGS[re.search(r"__(lgipp|lgip|lgi)", path.name)[1]]
    assert read(text.reported("text", raw)) == read(raw)


@pytest.mark.parametrize("path", sorted(PUBLIC.glob("*__q-x_*.txt")), ids=lambda path: path.stem)
def test_gpus_stay_without_their_identity(text, path):
    raw = path.read_text()
    before = [dataclasses.replace(gpu, uuid="") for gpu in inventory.parse(raw).gpus]
    after = [dataclasses.replace(gpu, uuid="") for gpu in inventory.parse(text.reported("xml", raw)).gpus]
    assert after == before
    assert "word-" not in text.reported("xml", raw)


def test_distances_stay(text):
    assert topology.parse(text.reported("text", own("topo.txt"))) == topology.parse(own("topo.txt"))


def test_firmware_parameters_stay(text):
    assert mlxconfig.keys(text.reported("text", own("mlxconfig.txt"))) == mlxconfig.keys(own("mlxconfig.txt"))


@pytest.mark.parametrize("name", ["topo.txt", "mlxconfig.txt", "ibv_devinfo.txt"])
def test_known_outputs_have_no_unknown_word(text, name):
    assert "word-" not in text.reported("text", own(name))


def test_the_parts_of_an_adapter_are_replaced_and_its_model_stays(text):
    made = text.reported("text", own("lspci.txt"))
    assert "MT2116X09045" not in made
    assert "b8-ce-f6-ff-ff-aa-bb-cc" not in made
    assert "Part number: MCX623106AN-CDAT" in made
    assert "Ethernet controller [0200]: Mellanox Technologies MT2892 Family [ConnectX-6 Dx] [15b3:101d]" in made
    assert devices(made) == devices(own("lspci.txt")) == ["0000:0b:00.0"]


def test_a_gpu_has_one_pseudonym_with_and_without_its_instances(text):
    uuid = "2fa5cf01-9520-1bc1-995b-cc0c6d9bca7c"
    gpu, instance = (text.reported("text", one).strip() for one in (f"GPU-{uuid}", f"MIG-GPU-{uuid}/1/0"))
    assert instance == f"MIG-{gpu}/1/0"
    assert uuid not in gpu


@pytest.mark.parametrize(
    "line, made",
    [
        ("nmlx5_core enabled = 1 options = 'max_vfs=8,8 pfctx=0x08'", None),
        ("nvidia enabled = 1 options = 'path=/vmfs/secret-customer'", "nvidia enabled = 1 options = 'path=text-001'"),
        ("nvidia enabled = 1 options = 'bare'", "nvidia enabled = 1 options = 'text-001'"),
    ],
)
def test_options_of_modules_stay_if_they_are_numbers(text, line, made):
    assert text.reported("options", line) == (made or line)


@pytest.mark.parametrize(
    "line, made",
    [
        ("    VM Name                           : train-01", "    VM Name                           : vm-001"),
        (
            "    VM Name                           : payroll of finance",
            "    VM Name                           : name-001",
        ),
        ("    Serial Number                     : 1650221041234", "    Serial Number                     : text-001"),
        ("NVreg password=hunter2", ""),
    ],
)
def test_names_and_serial_numbers_are_replaced_as_a_whole(text, line, made):
    assert text.reported("text", line) == made


HOSTILE = [
    '<!DOCTYPE a [<!ENTITY b "canary">]><nvidia_smi_log><product_name>&b;</product_name></nvidia_smi_log>',
    "<nvidia_smi_log><product_name>canary1<b>canary2</product_name>canary3</nvidia_smi_log>",
    "<nvidia_smi_log>" + "<a>" * 5000,
    "<nvidia_smi_log><product_name>NVIDIA\x1b[2J</product_name></nvidia_smi_log>",
    "<nvidia_smi_log><gpu id='canary4'><!-- canary5 --></gpu></nvidia_smi_log>canary6",
]


@pytest.mark.parametrize("raw", HOSTILE)
def test_hostile_xml_is_read_as_text(text, raw):
    made = text.reported("xml", raw)
    assert "canary" not in made
    assert all(sign.isprintable() or sign in "\n\t" for sign in made)


@pytest.mark.parametrize(
    "line",
    [
        'PRETTY_NAME="Oracle Linux Server 9.4"',
        'PRETTY_NAME="Fedora Linux 41 (Server Edition)"',
        'PRETTY_NAME="openSUSE Leap 15.6"',
        'PRETTY_NAME="Amazon Linux 2023.6.20241111"',
        "5.15.0-208.159.3.2.el9uek.x86_64",
        "6.1.115-126.197.amzn2023.x86_64",
        "5.14.0-503.15.1.el9_5.aarch64+64k",
    ],
)
def test_distributions_and_their_kernels_stay(text, line):
    assert text.reported("text", line) == line


def test_other_words_of_a_distribution_are_replaced(text):
    made = text.reported("text", 'PRETTY_NAME="Fedora Linux canary 6.8.0-1-canary"')
    assert made == 'PRETTY_NAME="Fedora Linux word-001 word-002"'
