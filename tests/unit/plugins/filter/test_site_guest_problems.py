"""What a site says of guests, container engines and the training is compared with itself."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

from unit.plugins.filter.seen_guests import site

site_problems = FilterModule().filters()["site_problems"]

SRIOV = {"path": "sriov", "nics": ["vmnic3"], "portgroup": "pg-sriov"}
TCP = {"path": "tcp"}
WHOLE = {"mode": "passthrough"}
TRAIN = {"image": "images.example.org/horovod:0.28.1", "builtin": "small"}
NGC = {"address": "nvcr.io", "username": "$oauthtoken"}
DRIVER = "/srv/nvidia-linux-grid-550_550.54.15_amd64.deb"
SIGNED = {"signing_key": "/etc/keys/mok.key", "signing_certificate": "/etc/keys/mok.der"}


def guests(network=None, gpu=None, **requested):
    return site(guests=requested, **{key: value for key, value in {"network": network, "gpu": gpu}.items() if value})


def runtime(**requested):
    return site(guests=None, runtime=requested)


def training(gpu=None, vms=None, **requested):
    more = {key: value for key, value in {"gpu": gpu, "vms": vms}.items() if value}
    whole = {key: value for key, value in {**TRAIN, **requested}.items() if value is not None}
    return site(guests=None, training=whole, **more)


SOUND = {
    "nothing": site(guests=None),
    "empty": site(guests={}, runtime={}, training={}),
    "guests": guests(user="ops", driver={"package": DRIVER}, licence={"wait_s": 60}, training_user="trainer"),
    "driver over HTTP with a checksum": guests(
        driver={"package": "http://depot.example.org/grid.run", "checksum": f"sha256:{'a' * 64}"}
    ),
    "mirror with plain HTTP whose key has HTTPS": runtime(
        toolkit_repository={"url": "http://mirror/stable", "key_url": "https://mirror/gpgkey"}
    ),
    "own key of a mirror": runtime(toolkit_repository={"key_fingerprints": ["9dc8 5822 " + "0" * 32]}),
    "key that nobody verifies": runtime(toolkit_repository={"key_fingerprints": []}),
    "driver from the network": guests(driver={"package": "https://depot.example.org/grid.run"}),
    "driver of a server of one's own": guests(
        driver={"package": "https://depot.example.org/grid.deb", "ca_file": "/srv/ca.pem", "downgrade": "allow"}
    ),
    "module that is signed": guests(driver={"package": DRIVER, "secure_boot": "signed"}),
    "module that a .run file signs": guests(driver={"package": "https://depot.example.org/grid.run", **SIGNED}),
    "driver of a repository": guests(driver={"package": "nvidia-linux-grid-550", "source": "repository"}),
    "DOCA-OFED with virtual functions": guests(SRIOV, rdma={"stack": "ofed", "gpudirect": "peermem"}),
    "DMA-BUF with virtual functions": guests(SRIOV, rdma={"gpudirect": "dmabuf"}),
    "a smaller MTU than that of the path": guests(mtu=4200),
    "fixed addresses": guests(data_addresses={"subnet": "198.51.100.0/29", "first": 5}),
    "limits in kB": guests(limits={"memlock": "8388608", "nofile": 0}),
    "whole GPUs": guests(None, WHOLE, licence={"feature_type": "compute"}),
    "engine": runtime(engine="docker", source="vendor", registries=[NGC, {"address": "[2001:db8::1]:5000"}]),
    "engine without a training": runtime(engine="containerd"),
    "toolkit of a release candidate": runtime(toolkit_version="1.21.0~rc.1-1"),
    "training": training(),
    "training of the user's own": training(builtin=None, command=["python", "train.py"]),
    "image by its digest": training(image=f"images.example.org:5000/horovod@sha256:{'a' * 64}"),
    "image of a proof by its digest": runtime(proof_image=f"nvcr.io/nvidia/cuda:12.4.1@sha256:{'a' * 64}"),
    "torchrun in NVIDIA's image, which is the default": training(image="nvcr.io/nvidia/pytorch:24.05-py3"),
    "elastic": training(engine="horovod", builtin=None, command=["train"], elastic={"min_ranks": 1}),
    "ranks on processors": training(gpus="none", slots=8),
    "two GPUs for each VM": training({"mode": "vgpu", "profile": "grid_a100-20c", "per_vm": 2}, slots=2),
}


@pytest.mark.parametrize("given", SOUND.values(), ids=SOUND.keys())
def test_consistent_site_has_no_problems(given):
    assert site_problems(given) == []


PROBLEMS = {
    "DOCA-OFED with PVRDMA": (
        guests(rdma={"stack": "ofed"}),
        "site.guests.rdma.stack: ofed replaces the RDMA core that the PVRDMA module is built for. Use inbox, or "
        "the path directpath, sriov or passthrough.",
    ),
    "DOCA-OFED without RDMA": (guests(TCP, rdma={"stack": "ofed"}), "ofed is for RDMA, but site.network.path is tcp."),
    "GPUDirect over PVRDMA": (
        guests(rdma={"gpudirect": "dmabuf"}),
        "site.guests.rdma.gpudirect: it is dmabuf, but a PVRDMA adapter is not a PCIe device that a GPU can reach.",
    ),
    "GPUDirect over TCP": (guests(TCP, rdma={"gpudirect": "dmabuf"}), "it is dmabuf, but TCP goes through the network"),
    "GPUDirect that the VMs do not have": (
        guests({**SRIOV, "gpudirect": "disabled"}, rdma={"gpudirect": "dmabuf"}),
        "it is dmabuf, but site.network.gpudirect is disabled. Remove one of them.",
    ),
    "peermem without DOCA-OFED": (
        guests(SRIOV, rdma={"gpudirect": "peermem"}),
        "site.guests.rdma.gpudirect: peermem needs the RDMA core of DOCA-OFED. Set stack to ofed, or use dmabuf",
    ),
    "MTU larger than that of the path": (
        guests({**SRIOV, "mtu": 4200}, mtu=9000),
        "site.guests.mtu: 9000 is larger than site.network.mtu, which is 4200, so larger packets are dropped.",
    ),
    "MTU that nothing takes": (guests(TCP, mtu=65535), "site.guests.mtu: 65535 is not a valid MTU."),
    "no network": (
        guests(data_addresses={"subnet": "198.51.100.7/24"}),
        "site.guests.data_addresses.subnet: 198.51.100.7/24 is not a valid network.",
    ),
    "addresses of IPv6": (guests(data_addresses={"subnet": "2001:db8::/64"}), "is IPv6, but launchers need IPv4."),
    "more VMs than addresses": (
        guests(data_addresses={"subnet": "198.51.100.0/29", "first": 6}),
        "site.guests.data_addresses: the VMs need the addresses 6 to 7, but 198.51.100.0/29 has 1 to 6.",
    ),
    "way in by the network of the training": (
        guests(address_network="pg-rdma"),
        "site.guests.address_network: pg-rdma is the port group of the training, and its adapter may lose its "
        "connection during setup.",
    ),
    "root between the guests": (
        guests(training_user="root"),
        "site.guests.training_user: it is root, and root must not log in between the guests by SSH key.",
    ),
    "no user name": (
        guests(training_user="Big Boss"),
        "site.guests.training_user: Big Boss is not valid on every distribution.",
    ),
    "no limit": (guests(limits={"memlock": "much"}), "site.guests.limits.memlock: much is not a valid limit."),
    "limit below zero": (guests(limits={"nofile": -1}), "site.guests.limits.nofile: -1 is below zero."),
    "address as a file": (
        guests(driver={"package": "https://depot.example.org/a.deb", "source": "copy"}),
        "site.guests.driver: source is copy, but https://depot.example.org/a.deb is an address. Use url",
    ),
    "file as an address": (guests(driver={"package": DRIVER, "source": "url"}), f"source is url, but {DRIVER} is no"),
    "no checksum": (
        guests(driver={"package": DRIVER, "checksum": "abc"}),
        "site.guests.driver.checksum: abc is not a SHA-256 checksum.",
    ),
    "no version": (
        guests(driver={"package": DRIVER, "version": "new"}),
        "site.guests.driver.version: new is not a valid version.",
    ),
    "authority without a server": (
        guests(driver={"package": DRIVER, "ca_file": "/srv/ca.pem"}),
        f"site.guests.driver.ca_file: {DRIVER} is not an address, so no server is used. Remove ca_file",
    ),
    "key without a certificate": (
        guests(driver={"package": "/srv/grid.run", "signing_key": "/etc/keys/mok.key"}),
        "site.guests.driver: it has signing_key, but no signing_certificate, and a signature needs both. Set "
        "both, or none.",
    ),
    "certificate without a key": (
        guests(driver={"package": "/srv/grid.run", "signing_certificate": "/etc/keys/mok.der"}),
        "site.guests.driver: it has signing_certificate, but no signing_key, and a signature needs both. Set "
        "both, or none.",
    ),
    "key for a package": (
        guests(driver={"package": DRIVER, **SIGNED}),
        f"site.guests.driver.signing_key: it is for .run files, but {DRIVER} is signed with the keys of DKMS.",
    ),
    "no word for an older driver": (
        guests(driver={"package": DRIVER, "downgrade": "yes"}),
        "downgrade",
    ),
    "token in the site": (
        guests(licence={"token": "eyJ-canary"}),
        "site.guests.licence.token: the key is unknown. Set site_licence_token in a vault, or name its file",
    ),
    "licence of vGPUs for whole GPUs": (
        guests(None, WHOLE, licence={"feature_type": "vgpu"}),
        "site.guests.licence.feature_type: vgpu is for vGPUs, but site.gpu.mode is passthrough.",
    ),
    "licence of whole GPUs for vGPUs": (
        guests(licence={"feature_type": "compute"}),
        "site.guests.licence.feature_type: compute is for whole GPUs, but site.gpu.mode is vgpu",
    ),
    "no time to log in": (guests(login_timeout_s=0), "site.guests.login_timeout_s: 0 is not a valid timeout."),
    "no time for a licence": (guests(licence={"wait_s": 0}), "site.guests.licence.wait_s: 0 is not a valid timeout."),
    "Podman of Docker's repository": (
        runtime(engine="podman", source="vendor"),
        "site.runtime.source: it is vendor, and Docker's repository has no Podman. Use distribution.",
    ),
    "mirror that nobody asks": (
        runtime(vendor_repository={"url": "https://mirror.example.org"}),
        "site.runtime.vendor_repository: it has no effect, because source is distribution.",
    ),
    "group docker without Docker": (
        runtime(engine="podman", docker_users=["ops"]),
        "site.runtime.docker_users: the engine is podman, which has no group docker. Remove it.",
    ),
    "no version of the toolkit": (
        runtime(toolkit_version="latest"),
        "site.runtime.toolkit_version: latest is not a valid version.",
    ),
    "address of a registry with its scheme": (
        runtime(registries=[{"address": "https://nvcr.io"}]),
        "site.runtime.registries[0].address: https://nvcr.io is not a host name with a port. Remove https://",
    ),
    "registry twice": (runtime(registries=[NGC, NGC]), "site.runtime.registries[1].address: nvcr.io is listed twice."),
    "whom to trust, and nobody": (
        runtime(registries=[{"address": "a:1", "insecure": True, "ca_file": "/ca.pem"}]),
        "site.runtime.registries[0]: ca_file names a trusted authority, but insecure disables the verification.",
    ),
    "user of NVIDIA's registry": (
        runtime(registries=[{"address": "nvcr.io", "username": "ops@example.org"}]),
        "site.runtime.registries[0].username: NVIDIA's registry has one user for all, literally $oauthtoken",
    ),
    "option in the place of an image": (
        training(image="--privileged"),
        "site.training.image: '--privileged' is not the name of an image",
    ),
    "option in the place of the image of the proof": (
        runtime(proof_image="--privileged"),
        "site.runtime.proof_image: --privileged is not a valid name of an image.",
    ),
    "all of a guest in the container": (
        training(mounts=[{"source": "/", "target": "/data"}]),
        "site.training.mounts: the source / is a folder of the system",
    ),
    "the image replaced by a folder": (
        training(mounts=[{"source": "/data", "target": "//usr/../"}]),
        "site.training.mounts: the target //usr/../ is a folder of the system",
    ),
    "the engine's own socket": (
        training(mounts=[{"source": "/var/run/docker.sock", "target": "/s"}]),
        "site.training.mounts: the source /var/run/docker.sock is a folder of the system",
    ),
    "options in a mount": (
        training(mounts=[{"source": "/data:/etc", "target": "/data"}]),
        "site.training.mounts: the source '/data:/etc' is not an absolute path",
    ),
    "options of chrony in the name of a server": (
        guests(ntp_servers=["ntp.example.org iburst maxdelay 9"]),
        "site.guests.ntp_servers[0]: ntp.example.org iburst maxdelay 9 is not a valid name or address.",
    ),
    "driver over plain HTTP": (
        guests(driver={"package": "http://depot.example.org/grid.run"}),
        "site.guests.driver.package: http://depot.example.org/grid.run uses plain HTTP, so an attacker on the "
        "network can replace a file that is installed as root. Write it with https://, or set "
        "site.guests.driver.checksum.",
    ),
    "key of a repository over plain HTTP": (
        runtime(toolkit_repository={"url": "https://mirror", "key_url": "http://mirror/gpgkey"}),
        "site.runtime.toolkit_repository.key_url: http://mirror/gpgkey uses plain HTTP, so an attacker on the "
        "network can replace the key.",
    ),
    "key beside a repository with plain HTTP": (
        runtime(source="vendor", vendor_repository={"url": "HTTP://mirror/docker"}),
        "site.runtime.vendor_repository.url: HTTP://mirror/docker uses plain HTTP and also provides the key",
    ),
    "number of a key in the place of its fingerprint": (
        runtime(toolkit_repository={"key_fingerprints": ["DDCAE044F796ECB0"]}),
        "site.runtime.toolkit_repository.key_fingerprints[0]: DDCAE044F796ECB0 is not a fingerprint.",
    ),
    "repository without a scheme": (
        runtime(toolkit_repository={"url": "mirror/stable"}),
        "site.runtime.toolkit_repository.url: mirror/stable is not an address. Write it with https://.",
    ),
    "password of a registry in the site": (
        runtime(registries=[{**NGC, "password": "nvapi-canary"}]),
        "site.runtime.registries[0].password: the key is unknown. Set site_registry_passwords in a vault",
    ),
    "password of a proxy in the site": (
        runtime(proxy={"http": "http://me:canary@proxy:3128"}),
        "site.runtime.proxy.http: it contains credentials, and a site is shown and stored.",
    ),
    "no proxy": (
        runtime(proxy={"https": "proxy:3128"}),
        "site.runtime.proxy.https: proxy:3128 is not a valid address of a proxy.",
    ),
    "engine that starts no training": (
        site(guests=None, runtime={"engine": "containerd"}, training=TRAIN),
        "site.runtime.engine: it is containerd, and site.training starts its containers there with nerdctl, "
        "which no stage installs. Use docker or podman.",
    ),
    "nothing to train": (
        training(builtin=None),
        "site.training: exactly one of builtin and command is required, but none is set. Set one of them.",
    ),
    "two things to train": (
        training(command=["train"]),
        "site.training: exactly one of builtin and command is required, but both are set.",
    ),
    "digest that was cut": (
        training(image="images.example.org/horovod@sha256:0123"),
        "site.training.image: the digest 'sha256:0123' cannot be pulled. Write sha256: and 64 hexadecimal digits",
    ),
    "digest of the proof that was cut": (
        runtime(proof_image="images.example.org/cuda@"),
        "site.runtime.proof_image: the digest (empty) cannot be pulled.",
    ),
    "NVIDIA's image without Horovod by its digest": (
        training(engine="horovod", image=f"nvcr.io/nvidia/pytorch@sha256:{'a' * 64}"),
        "holds no Horovod, which the engine horovod needs.",
    ),
    "image without Horovod": (
        training(engine="horovod", image="nvcr.io/nvidia/pytorch:24.05-py3"),
        "site.training.image: nvcr.io/nvidia/pytorch:24.05-py3 holds no Horovod, which the engine horovod needs.",
    ),
    "image without PyTorch": (
        training(engine="torchrun", image="nvcr.io/nvidia/tensorflow:24.05-tf2-py3"),
        "holds no PyTorch, which the engine torchrun needs. Use the engine horovod, or an image with PyTorch.",
    ),
    "no image": (
        training(image="https://nvcr.io/a:1"),
        "training.image: https://nvcr.io/a:1 is not a valid name",
    ),
    "launcher of the other engine": (
        training(engine="torchrun", launcher="mpirun"),
        "site.training.launcher: it is for Horovod, but the engine is torchrun. Remove it, or set site.training.engine "
        "to horovod.",
    ),
    "Gloo by mpirun": (
        training(engine="horovod", launcher="mpirun", controller="gloo"),
        "site.training.controller: only horovodrun starts gloo.",
    ),
    "elastic with MPI": (
        training(
            engine="horovod",
            builtin=None,
            command=["train"],
            elastic={"min_ranks": 1},
            launcher="mpirun",
            controller="mpi",
        ),
        "site.training.elastic: only Horovod with launcher: horovodrun and controller: gloo can add and remove ranks.",
    ),
    "elastic with more ranks than there are": (
        training(engine="horovod", builtin=None, command=["train"], elastic={"min_ranks": 3}),
        "site.training.elastic: min_ranks is 3, and the hosts have 2 slots.",
    ),
    "more ranks than GPUs": (
        training(slots=2),
        "site.training.slots: each guest has 2 ranks, each with its own GPU, but the site gives a VM 1.",
    ),
    "no ranks": (training(slots=0), "site.training.slots: a guest has 0 slots. It needs at least 1."),
    "secret in the environment": (
        training(environment={"NGC_API_KEY": "nvapi-canary"}),
        "site.training.environment: NGC_API_KEY looks like a secret, and every rank would have it.",
    ),
    "a run that stands still for longer than it may take": (
        training(limits={"wall_s": 60, "stall_s": 120}),
        "site.training.limits: stall_s is longer than wall_s",
    ),
    "no time": (training(limits={"stall_s": 0}), "site.training.limits: stall_s is 0, which is not a valid time."),
}


@pytest.mark.parametrize("given, problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_contradiction_is_reported_with_a_way_out_and_without_secrets(given, problem):
    (found,) = site_problems(given)
    assert problem in found
    assert "canary" not in found


def test_stages_of_guests_cannot_differ_between_hosts():
    found = site_problems(site(), {"training": {"image": "a:1"}})
    assert found[0] == "site_host.training: it cannot differ between hosts. Set site.training for all of them."
