"""BIOS settings of the hosts of a capture, from the Redfish resources of their BMCs."""

from __future__ import annotations

import re

from ..model import bios_tables

SYSTEM = re.compile(r"(bmcs/[^/]+/redfish/v1/Systems/[^/]+)/index\.json")


class Bmcs:
    """The attributes of each BIOS, by the UUID of its system."""

    def __init__(self, bundle):
        self._attributes = {}
        for name in bundle.files:
            found = SYSTEM.fullmatch(name)
            system = bundle.table(name) if found else {}
            bios = bundle.table(f"{found[1]}/Bios/index.json") if found else {}
            attributes = bios.get("Attributes")
            uuid = system.get("UUID")
            # A BMC without an identity has an empty UUID, or one of zeros.
            if isinstance(uuid, str) and uuid.strip("0-") and attributes and isinstance(attributes, dict):
                self._attributes[uuid.lower()] = attributes

    def of(self, uuid):
        """The attributes of the BIOS of a host; None if they were not read."""
        return self._attributes.get(uuid.lower()) or self._attributes.get(_swapped(uuid.lower()))


def entry(attributes, vendor):
    """(BIOS of a seed, names that the twin has and the capture lacks) for the attributes of a vendor's BIOS."""
    lower = (vendor or "").lower()
    words = {"dell": "dell", "hpe": "hpe", "hewlett": "hpe", "supermicro": "supermicro"}
    key = next((one for word, one in words.items() if word in lower), "other")
    known = [one.name for one in bios_tables.TABLES[key].attributes]
    made = {name: attributes[name] for name in known if attributes.get(name) is not None}
    return {"vendor": key, "attributes": made}, [name for name in known if name not in made]


def _swapped(uuid):
    """The UUID with its first three parts in the other byte order, in which SMBIOS has them."""
    parts = uuid.split("-")
    if len(parts) != 5:
        return uuid
    turned = ["".join(reversed(re.findall("..", part))) for part in parts[:3]]
    return "-".join([*turned, *parts[3:]])
