# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The tutorial names playbooks, seeds, sites and files that exist, and leads to DirectPath and torchrun first."""

from __future__ import annotations

import re

from rehearse import sites
from vsphere_twin.model import seed

from .collection import ROOT

PAGE = (ROOT / "docs" / "tutorial.md").read_text()
SITE = "inventories/directpath/group_vars/all/site.yml"


def test_commands_of_the_tutorial_name_what_exists():
    playbooks = re.findall(r"ansible-playbook aiready\.vsphere\.(\w+)", PAGE)
    assert len(playbooks) >= 6
    assert [name for name in playbooks if not (ROOT / "playbooks" / f"{name}.yml").is_file()] == []
    assert set(re.findall(r"SEED=(\S+)", PAGE)) - set(seed.shipped()) == set()
    assert set(re.findall(r"SITE=(\w+)", PAGE)) - set(sites.NAMES) == set()
    paths = re.findall(r"(?:inventories|docs)/[\w./-]*\w", PAGE)
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_tutorial_starts_the_data_centre_of_the_rehearsed_site():
    site = sites.of("directpath")
    assert f"make twin SEED={site.seed}\n" in PAGE
    assert site.arguments[-1].endswith("/inventories/directpath")
    assert '"$PWD/inventories/lab,$PWD/inventories/directpath"' in PAGE


def test_the_line_of_the_misspelled_key_is_that_of_the_file():
    line = int(re.findall(rf"{SITE}, line (\d+)\)", PAGE)[0])
    assert (ROOT / SITE).read_text().splitlines()[line - 1] == "    path: directpath"


def test_pvrdma_has_one_sentence_and_every_rehearsal_uses_directpath():
    assert PAGE.count("PVRDMA") == 1
    rehearsals = re.findall(r"^make rehearse.*$", PAGE, re.M)
    assert rehearsals
    assert [command for command in rehearsals if "SITE=directpath" not in command] == []
