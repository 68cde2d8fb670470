"""The inventory of the lab with the hosts of one twin."""

from __future__ import annotations

from e2e.conftest import Lab


class Site(Lab):
    """The inventory of the lab with the hosts of this twin, and without its switches."""

    def _with_hosts(self, inventory):
        made = super()._with_hosts(inventory)
        made["all"]["children"] = {"esxi_hosts": made["all"]["children"]["esxi_hosts"]}
        return made
