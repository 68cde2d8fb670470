# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What the site and the environment of the run say about certificates. The site has precedence."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core import trust

if TYPE_CHECKING:
    from collections.abc import Iterator

SSH, HOST_KEYS = "hosts and switches over SSH", "ANSIBLE_HOST_KEY_CHECKING"
OFF = ("0", "f", "false", "n", "no", "off")


def problems(side: trust.Side, part: Any, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Sentences about settings of one part of the site that cancel each other, or that the environment cancels."""
    environment = os.environ if environment is None else environment
    part = part if isinstance(part, Mapping) else {}
    verified, ca_file = part.get("validate_certs"), part.get("ca_file")
    if verified is False and ca_file:
        yield (
            f"{side.key}: ca_file says whom to trust, but validate_certs is false, so nobody is asked. Remove "
            "validate_certs to be protected, or ca_file if you mean it."
        )
    elif verified is False and environment.get(side.ca_variable):
        yield (
            f"{side.key}.validate_certs: It is false, but the environment variable {side.ca_variable} names "
            "authorities to trust. Remove validate_certs to be protected, or the variable if you mean it."
        )
    elif verified is None and trust.is_off(side, environment) and (ca_file or environment.get(side.ca_variable)):
        authority = f"{side.key}.ca_file" if ca_file else f"the environment variable {side.ca_variable}"
        yield (
            f"{side.key}.validate_certs: It is not set, and {trust.source(side, environment)}, although {authority} "
            f"says whom to trust. Set {side.key}.validate_certs to true, which has precedence over the environment."
        )


def own(part: Mapping[str, Any]) -> dict[str, bool]:
    """The options by which a part of the site keeps its precedence over the environment."""
    return {"validate_certs": True} if part.get("ca_file") and part.get("validate_certs") is None else {}


def unverified(site: Any, environment: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    """[(what, setting)] of the connections of a site whose certificates nobody looks at."""
    environment = os.environ if environment is None else environment
    site = site if isinstance(site, Mapping) else {}
    hosts = site.get("hosts") if isinstance(site.get("hosts"), Mapping) else {}
    found = []
    for side, given in ((trust.VCENTER, site.get("vcenter")), (trust.BMC, hosts.get("bmc"))):
        part = given if isinstance(given, Mapping) else {}
        if part.get("validate_certs") is False:
            found.append((side.what, f"{side.key}.validate_certs is false"))
        elif part.get("validate_certs") is None and not part.get("ca_file") and trust.is_off(side, environment):
            found.append((side.what, trust.source(side, environment)))
    if environment.get(HOST_KEYS, "").strip().lower() in OFF:
        found.append((SSH, f"the environment variable {HOST_KEYS} is {environment[HOST_KEYS]}, as AWX sets it"))
    return found
