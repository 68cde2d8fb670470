# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Steps that restore the settings of ESXi hosts. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import net, step

if TYPE_CHECKING:
    from typing import Mapping, Union

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import Cannot, Entry, Inverse, Step


def _kernel_setting(entries: Sequence[Entry]) -> list[Union[Step, Cannot]]:
    settings = net(entries)
    back: dict[str, Any] = {path.partition(".")[2]: one.back for path, one in settings.items()}
    return [step(entries, dict(entries[-1].request, settings=back), settings)] if settings else []


INVERSE: Mapping[str, Inverse] = {"esxi_kernel_setting": _kernel_setting}
