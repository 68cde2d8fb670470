# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import keys


def refused(**advanced):
    return list(keys.wrong_keys(advanced))


@pytest.mark.parametrize(
    "name, near",
    [
        ("numa.vcpu.preferHt2", "numa.vcpu.preferHT"),
        ("numa.vcpu.prefereHT", "numa.vcpu.preferHT"),
        ("numa.vcpu.maxPerVirtualNodes", "numa.vcpu.maxPerVirtualNode"),
        ("sched.mem.lpage.enable1GPages", "sched.mem.lpage.enable1GPage"),
        ("pciPassthru.use64BitMMIOs", "pciPassthru.use64bitMMIO (option mmio)"),
        ("pciPassthru0.cfg.enableuvm", "pciPassthru<N>.cfg.enable_uvm"),
        ("pciPassthruX.cfg.enable_uvm", "pciPassthru<N>.cfg.enable_uvm"),
        ("ethernet0.coalesceScheme", "ethernet<N>.coalescingScheme"),
    ],
)
def test_a_misspelt_key_is_refused_with_what_was_probably_meant(name, near):
    (problem,) = refused(**{name: "TRUE"})
    assert problem.startswith(f"advanced has {name}, which is not a known key; similar keys: ")
    assert near in problem


def test_a_key_like_no_other_is_refused_without_a_guess():
    (problem,) = refused(**{"isolation.tools.copy.disable": "TRUE"})
    assert problem == (
        "advanced has isolation.tools.copy.disable, which is not a known key; "
        "the keys that vm_shape takes are listed in its documentation."
    )


@pytest.mark.parametrize(
    "name, option",
    [
        ("pciPassthru.use64bitMMIO", "mmio"),
        ("pcipassthru.64bitmmiosizegb", "mmio_size_gb"),
        ("pciPassthru.allowP2P", "gpudirect"),
        ("pciPassthru.RelaxACSforP2P", "gpudirect"),
        ("numa.nodeAffinity", "numa_nodes"),
        ("numa.node_affinity", "numa_nodes"),
        ("cpuid.coresPerSocket", "cores_per_socket"),
        ("sched.cpu.latencySensitivity", "latency_sensitivity"),
        ("sched.cpu.min", "cpu_reservation_mhz"),
        ("sched.mem.min", "memory_reservation"),
    ],
)
def test_a_key_that_an_option_owns_is_refused_with_the_option(name, option):
    assert refused(**{name: "1"}) == [f"advanced has {name}, which the option {option} manages; use that option."]
    assert refused(**{name: None}) == refused(**{name: "1"})


def test_the_misprint_of_the_guides_has_its_own_words():
    (problem,) = refused(**{"pciPassthru.set.usebitMMIO": "TRUE"})
    assert "a misprint in several guides" in problem
    assert problem.endswith("the correct key is pciPassthru.use64bitMMIO, which mmio=auto sets.")


def test_pinned_memory_is_the_reservations_business():
    (problem,) = refused(**{"sched.mem.pin": "TRUE"})
    assert problem.endswith("use memory_reservation=all, which reserves and locks all memory through the API.")


def test_what_the_guest_is_reported_belongs_to_the_clone():
    (problem,) = refused(**{"guestinfo.userdata": "secret"})
    assert problem == (
        "advanced has guestinfo.userdata, which passes data to the guest; use the option cloud_init of vm_clone."
    )


@pytest.mark.parametrize(
    "name, value, takes",
    [
        ("numa.vcpu.preferHT", "maybe", "TRUE or FALSE"),
        ("numa.vcpu.maxPerVirtualNode", "many", "a whole number from 1 on"),
        ("numa.vcpu.maxPerVirtualNode", 0, "a whole number from 1 on"),
        ("numa.vcpu.maxPerVirtualNode", True, "a whole number from 1 on"),
        ("numa.vcpu.maxPerVirtualNode", -4, "a whole number from 1 on"),
        ("pciPassthru0.cfg.enable_uvm", 2, "1 or 0"),
        ("ethernet0.coalescingScheme", "off", "disabled, rbc, static, calibrate, adapt"),
        ("ethernet0.ctxPerDev", 9, "a whole number from 1 to 3"),
    ],
)
def test_a_value_that_a_key_cannot_have_is_refused_with_what_it_takes(name, value, takes):
    (problem,) = refused(**{name: value})
    assert problem == f"advanced sets {name} to {value!r}; it takes {takes}, or null to remove it."


def test_one_key_in_two_spellings_is_refused():
    (problem,) = refused(**{"numa.vcpu.preferHT": True, "NUMA.vcpu.preferht": False})
    assert "which are the same key" in problem


def test_all_wrong_keys_are_reported_at_once():
    assert len(refused(**{"sched.mem.pin": 1, "numa.vcpu.preferHt2": 1, "ethernet0.ctxPerDev": 0})) == 3


@pytest.mark.parametrize(
    "name, value, written",
    [
        ("numa.vcpu.preferHT", True, "TRUE"),
        ("numa.vcpu.preferHT", "yes", "TRUE"),
        ("numa.vcpu.preferHT", 0, "FALSE"),
        ("pciPassthru12.cfg.enable_uvm", True, "1"),
        ("pciPassthru12.cfg.enable_uvm", "FALSE", "0"),
        ("numa.vcpu.maxPerVirtualNode", "8", "8"),
        ("ethernet3.coalescingScheme", "Disabled", "disabled"),
    ],
)
def test_values_are_written_as_vsphere_writes_them(name, value, written):
    assert refused(**{name: value}) == []
    assert keys.text(keys.find(name)[0], value) == written


def test_keys_are_known_in_any_spelling_of_their_letters():
    extra = {"pcipassthru.allowp2p": "TRUE", "pcipassthru7.cfg.enable_uvm": "1", "svga.present": "TRUE"}
    assert keys.known(extra) == {"pciPassthru.allowP2P": "TRUE", "pciPassthru7.cfg.enable_uvm": "1"}


def test_what_vsphere_writes_by_itself_is_not_taken_for_a_setting():
    written = ("cpuid.corespersocket", "sched.mem.min", "sched.mem.minsize", "sched.cpu.min")
    assert keys.known({**dict.fromkeys(written, "8"), "sched.cpu.latencysensitivity": "high"}) == {}


def test_values_that_mean_the_same_are_no_difference():
    assert keys.same("numa.vcpu.preferHT", "true", "TRUE")
    assert keys.same("pciPassthru0.cfg.enable_uvm", "TRUE", "1")
    assert keys.same("numa.vcpu.min", "08", "8")
    assert not keys.same("numa.vcpu.preferHT", None, "FALSE")
    assert keys.same("numa.vcpu.preferHT", "rubbish", "rubbish")


@pytest.mark.parametrize("key", keys.KEYS, ids=lambda key: key.name)
def test_every_row_of_the_table_can_be_used(key):
    assert key.about
    assert key.source
    assert (key.kind == "choice") <= bool(key.choices or key.owner)
    name = key.name.replace("<N>", "3")
    assert keys.find(name.upper()) == (key, 3 if "<N>" in key.name else None)
    assert keys.canonical(name.lower()) == name
