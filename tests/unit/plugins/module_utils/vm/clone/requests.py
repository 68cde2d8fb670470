# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Requests for the tests of this folder."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.params import CloneRequest, Customization


def request(name="train-01", **options):
    """The request for a VM, as the module fills it."""
    names = ("instance_uuid", "folder", "host", "datastore", "annotation", "cloud_init", "customization", "owner")
    unset = dict.fromkeys(names)
    usual = {"state": "present", "move": "keep", "disk_gb": 0, "planned_off": False}
    return CloneRequest(**{"name": name, **unset, **usual, **options})


def customization(**options):
    """A guest customization, as the module fills it."""
    names = ("spec", "hostname", "domain", "networks", "dns_servers", "dns_suffixes")
    return Customization(**{**dict.fromkeys(names), **options})
