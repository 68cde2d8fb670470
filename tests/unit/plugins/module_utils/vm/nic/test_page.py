# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The page about data paths says what the code does."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import costs

ROOT = Path(__file__).parents[6]


def test_the_page_holds_the_table_of_costs():
    assert costs.markdown() in (ROOT / "docs" / "data_paths.md").read_text()
