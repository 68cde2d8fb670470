"""Each key of a site either can be less strict than its default, and is compared, or stands here with the reason."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.relaxed import BENCHMARK, COMPARED
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.relaxed_rules import RULES
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import specification

from .role_readme import ROOT

NOT_LOOSER = {
    "It says where something is, or what it is called.": """
        vcenter.hostname vcenter.port vcenter.username vcenter.ca_file vcenter.proxy_host vcenter.proxy_port
        vcenter.saml_token_file
        vcenter.session_dir datacenter cluster hosts.bmc.username hosts.bmc.ca_file driver.depot driver.url driver.file
        driver.datastore driver.version network.nics network.vmknic network.portgroup network.switch network.devices
        network.label fabric.backup_dir placement.rule machine.template machine.content_library machine.content_item
        machine.folder machine.datastore machine.customization vms[].name vms[].path vms[].prefix vms[].first
        vms[].digits vms[].host vms[].folder vms[].datastore guests.user guests.address_network guests.training_user
        guests.driver.package guests.driver.source guests.driver.version guests.driver.ca_file
        guests.driver.signing_key guests.driver.signing_certificate guests.licence.token_file
        guests.data_addresses.subnet guests.data_addresses.first guests.ntp_servers runtime.vendor_repository.url
        runtime.vendor_repository.key_url runtime.vendor_repository.ca runtime.toolkit_repository.url
        runtime.toolkit_repository.key_url runtime.toolkit_repository.ca runtime.registries[].address
        runtime.registries[].username runtime.registries[].ca_file runtime.proxy.http runtime.proxy.https
        runtime.proxy.no_proxy runtime.proxy.username training.image training.mounts[].source training.mounts[].target
        training.result_dir validation.result_dir gpu.passthrough.devices gpu.passthrough.label
        fabric.cables[].switch fabric.cables[].port fabric.cables[].host fabric.cables[].nic fabric.cables[].peer
        fabric.cables[].peer_port fabric.cables[].length_m roce.cable_length_m name directpath.label directpath.group
        directpath.gpu_class directpath.port_class kubernetes.kubeconfig kubernetes.context kubernetes.nodes
        kubernetes.vks.supervisor kubernetes.vks.ca_file kubernetes.vks.namespace kubernetes.vks.cluster
        kubernetes.vks.storage_class kubernetes.vks.cluster_class kubernetes.vks.class_namespace
        kubernetes.vks.vm_class kubernetes.vks.control_plane.vm_class kubernetes.vks.pods_cidr
        kubernetes.vks.services_cidr
        kubernetes.gpu_operator.namespace kubernetes.gpu_operator.policy kubernetes.gpu_operator.driver.repository
        kubernetes.gpu_operator.driver.image kubernetes.gpu_operator.driver.version
        kubernetes.gpu_operator.chart.ref kubernetes.gpu_operator.chart.repository kubernetes.gpu_operator.chart.version
        kubernetes.network_operator.chart.ref kubernetes.network_operator.chart.repository
        kubernetes.network_operator.chart.version
        kubernetes.gpu_operator.driver.pull_secrets kubernetes.training.namespace kubernetes.training.queue
        kubernetes.training.runtime kubernetes.training.pull_secrets kubernetes.training.run
        kubernetes.checks.image kubernetes.checks.pairs.image kubernetes.checks.pull_secrets kubernetes.pull_secret
        kubernetes.checks.gds_claim stack.dcgm.package stack.gds.read_file
        kubernetes.network_operator.namespace kubernetes.network_operator.sriov_namespace
        kubernetes.network_operator.resource_prefix kubernetes.network_operator.repository
        kubernetes.network_operator.version kubernetes.network_operator.pull_secrets kubernetes.network_operator.name
    """,
    "It says what is built, and that is checked whatever it is.": """
        hosts.profile_places.kernel_settings hosts.profile_places.module_options hosts.profile_places.advanced_options
        gpu.mode gpu.profile gpu.per_vm gpu.mmio_size_gb gpu.max_per_vm gpu.most_per_gpu gpu.passthrough.assignment
        driver.method
        network.path network.vfs network.protocol network.adapters network.assignment roce.priority roce.dscp
        roce.cnp_priority roce.cnp_dscp roce.trust roce.mtu roce.bandwidth_percent roce.ecn.min_kb roce.ecn.max_kb
        roce.ecn.probability roce.ecn.by_speed[].speed roce.ecn.by_speed[].min_kb roce.ecn.by_speed[].max_kb
        roce.ecn.by_speed[].probability roce.watchdog.detection_ms roce.watchdog.recovery_ms roce.watchdog.action
        roce.dcbx placement.policy machine.cpus machine.cores_per_socket machine.memory_gb machine.disk_gb
        machine.hardware_version
        machine.advanced machine.metadata machine.start vms[].count vms[].profiles vms[].cpus vms[].cores_per_socket
        vms[].memory_gb guests.driver.headers guests.licence.feature_type runtime.engine runtime.source
        runtime.toolkit_version runtime.cdi training.pull training.builtin training.command training.arguments
        training.engine training.launcher training.controller training.slots training.environment
        training.mounts[].writable training.shm_size bios.attributes vcenter.session hosts.ssh
        directpath.assignment licence guests.driver.flavour kubernetes.gpu_operator.toolkit
        kubernetes.gpu_operator.mig_strategy kubernetes.gpu_operator.spec kubernetes.training.nodes
        kubernetes.network_operator.attachment kubernetes.network_operator.subnets
        kubernetes.network_operator.per_node kubernetes.network_operator.exclude
        kubernetes.network_operator.interfaces kubernetes.network_operator.devices
        kubernetes.network_operator.gid_index kubernetes.network_operator.spec kubernetes.network_operator.vfs
        stack.mig.layout kubernetes.training.topology.level kubernetes.training.topology.mode
        kubernetes.kind kubernetes.vks.version kubernetes.vks.control_plane.nodes kubernetes.vks.os_image
        kubernetes.vks.firmware kubernetes.vks.containerd_gb kubernetes.gpu_operator.chart.values
        kubernetes.network_operator.chart.values
    """,
    "Its default requires nothing, so that each other value is stricter.": """
        bios.functions.c_states driver.checksum guests.driver.checksum machine.latency_sensitivity runtime.proof_image
        validation.osu.latency validation.osu.bandwidth validation.osu.allreduce gpu.nvlink directpath.vmotion
        stack.dcgm.diag stack.dcgm.health stack.gds.check stack.mpi.transport stack.sharp stack.images
        kubernetes.checks.jobs
    """,
    "It allows an act that the run needs or refuses, and changes nothing in what is checked.": """
        hosts.reboot hosts.cold_cycle hosts.allow_reverted_settings hosts.uncompared_settings hosts.evacuation
        driver.downgrade driver.replace
        fabric.allow guests.driver.downgrade guests.reboot runtime.docker_users power absent prune kubernetes.force
        kubernetes.gpu_operator.chart.install kubernetes.network_operator.chart.install
    """,
    "It is a limit of time. What takes longer fails.": """
        vcenter.request_timeout_s hosts.maintenance_timeout_s hosts.reboot_timeout_s hosts.bmc.timeout_s
        fabric.confirm_timeout_s fabric.verify_timeout_s fabric.reconnect_timeout_s machine.wait_timeout_s
        guests.licence.wait_s guests.reboot_timeout_s guests.login_timeout_s training.limits.wall_s
        training.limits.stall_s training.limits.return_s validation.osu.stall_s guest_shutdown_timeout_s
        kubernetes.wait_s
        kubernetes.checks.limit_s
    """,
    "What is not measured by it is reported as not run, and the verdict is not complete.": """
        validation.packages validation.perftest validation.checks
    """,
    "The report shows it otherwise: as simulated, or as a note.": "validation.simulated validation.notes",
    "The result of the run states each restart.": "training.restarts",
    "It belongs to training.elastic.min_ranks.": "training.elastic.max_ranks training.elastic.reset_limit",
}


def options(part: dict, before: str = "") -> Iterator[str]:
    """Paths of all keys that have a value of their own; [] stands behind lists of dictionaries."""
    for name, option in part.items():
        path = f"{before}{name}"
        if "options" in option:
            yield from options(option["options"], f"{path}{'[]' if option['type'] == 'list' else ''}.")
        else:
            yield path


def test_each_key_of_a_site_is_compared_with_its_default_or_cannot_be_looser():
    compared = [*RULES, *COMPARED]
    listed = [path for paths in NOT_LOOSER.values() for path in paths.split()]
    known = sorted(options(specification()["site"]["options"]))
    assert sorted([*compared, *listed]) == known


def test_the_benchmark_has_the_defaults_that_arguments_are_compared_with():
    asks = "import json, synthetic; print(json.dumps(vars(synthetic.parser().parse_args([]))))"
    folder = ROOT / "roles/horovod/files/trainings"
    done = subprocess.run([sys.executable, "-B", "-c", asks], cwd=folder, capture_output=True, text=True, check=True)
    reported = json.loads(done.stdout)
    assert {option: str(reported[option[2:].replace("-", "_")]) for option in BENCHMARK} == BENCHMARK
