# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Settings for certificates in the site and the environment of the run. The site has precedence."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core import trust

if TYPE_CHECKING:
    from collections.abc import Iterator


def problems(side: trust.Side, part: Any, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Sentences about contradictory settings of one part of the site, or of the environment."""
    environment = os.environ if environment is None else environment
    part = part if isinstance(part, Mapping) else {}
    verified, ca_file = part.get("validate_certs"), part.get("ca_file")
    if verified is False and ca_file:
        yield (
            f"{side.key}: ca_file names a trusted authority, but validate_certs is false, which disables the "
            "verification. Remove validate_certs to verify the certificate, or ca_file if you accept the risk."
        )
    elif verified is False and environment.get(side.ca_variable):
        yield (
            f"{side.key}.validate_certs: it is false, but the environment variable {side.ca_variable} names trusted "
            "authorities. Remove validate_certs to verify the certificate, or the variable if you accept the risk."
        )
    elif verified is None and trust.is_off(side, environment) and (ca_file or environment.get(side.ca_variable)):
        authority = f"{side.key}.ca_file" if ca_file else f"the environment variable {side.ca_variable}"
        yield (
            f"{side.key}.validate_certs: it is not set, and {trust.source(side, environment)}, although {authority} "
            f"names a trusted authority. Set {side.key}.validate_certs to true, which has precedence over the "
            "environment."
        )


def own(part: Mapping[str, Any]) -> dict[str, bool]:
    """Options that give a part of the site precedence over the environment."""
    return {"validate_certs": True} if part.get("ca_file") and part.get("validate_certs") is None else {}


def unverified(site: Any, environment: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    """[(what, setting)] of the connections of a site without verified certificates."""
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
    return found
