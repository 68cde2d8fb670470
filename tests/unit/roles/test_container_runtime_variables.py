"""What the role container_runtime works out of its inputs and of what the guest says."""

from __future__ import annotations

import pytest

from unit.roles.variables import value_of

UBUNTU = {"os_family": "Debian", "distribution": "Ubuntu", "architecture": "x86_64"}
ROCKY = {"os_family": "RedHat", "distribution": "Rocky", "architecture": "aarch64"}


def found(name, facts=UBUNTU, **given):
    return value_of("container_runtime", f"__container_runtime_{name}", ansible_facts=facts, **given)


@pytest.mark.parametrize(
    "engine, source, facts, packages",
    [
        ("docker", "distribution", UBUNTU, ["docker.io"]),
        ("docker", "distribution", ROCKY, []),
        ("docker", "vendor", ROCKY, ["docker-ce", "docker-ce-cli", "containerd.io"]),
        ("containerd", "distribution", UBUNTU, ["containerd"]),
        ("podman", "distribution", ROCKY, ["podman"]),
        ("podman", "vendor", UBUNTU, []),
    ],
)
def test_each_engine_has_its_packages_where_its_source_offers_it(engine, source, facts, packages):
    given = {"container_runtime_engine": engine, "container_runtime_source": source}
    assert found("engine_packages", facts, **given) == packages
    assert found("engine_packages", facts, container_runtime_packages=["own"], **given) == ["own"]


LISTED = {
    "stdout_lines": [
        "ii docker.io 26.1.3-0ubuntu1",
        "rc docker-ce 5:27.0-1",
        "hi nvidia-container-toolkit 1.20.0-1",
        "ii nvidia-container-toolkit-base 1.20.01-1",
        "ii libnvidia-container1 1.19.0-1",
    ]
}


def test_packages_that_are_held_are_installed_and_removed_ones_are_not():
    given = {"__container_runtime_listed": LISTED}
    assert found("installed", **given)["nvidia-container-toolkit"] == "1.20.0-1"
    assert (found("missing", **given), found("in_the_way", **given)) == ([], [])
    assert found("missing", container_runtime_source="vendor", **given) == [
        "docker-ce",
        "docker-ce-cli",
        "containerd.io",
    ]
    assert found("in_the_way", container_runtime_source="vendor", **given) == ["docker.io"]


def test_packages_of_the_toolkit_are_wrong_in_any_other_version():
    given = {"__container_runtime_listed": LISTED, "container_runtime_toolkit_version": "1.20.0"}
    assert found("toolkit_wrong", **given) == [
        "nvidia-container-toolkit-base",
        "libnvidia-container-tools",
        "libnvidia-container1",
    ]


@pytest.mark.parametrize(
    "given, url, key",
    [
        (
            {},
            "https://nvidia.github.io/libnvidia-container/stable",
            "https://nvidia.github.io/libnvidia-container/gpgkey",
        ),
        ({"url": "https://mirror.example/stable"}, "https://mirror.example/stable", "https://mirror.example/gpgkey"),
        ({"url": "https://m.example/x", "key_url": "https://k.example"}, "https://m.example/x", "https://k.example"),
    ],
)
def test_the_key_of_the_toolkit_lies_beside_its_repository(given, url, key):
    given = {"container_runtime_toolkit_repository": given}
    assert (found("toolkit_url", **given), found("toolkit_key_url", **given)) == (url, key)


@pytest.mark.parametrize(
    "facts, given, url, key",
    [
        (UBUNTU, {}, "https://download.docker.com/linux/ubuntu", "https://download.docker.com/linux/ubuntu/gpg"),
        (ROCKY, {}, "https://download.docker.com/linux/centos", "https://download.docker.com/linux/centos/gpg"),
        (ROCKY, {"url": "https://m.example"}, "https://m.example", "https://m.example/gpg"),
        (ROCKY, {"key_url": "https://k.example"}, "https://download.docker.com/linux/centos", "https://k.example"),
    ],
)
def test_the_repository_of_docker_is_that_of_the_distribution(facts, given, url, key):
    given = {"container_runtime_vendor_repository": given}
    assert (found("vendor_url", facts, **given), found("vendor_key_url", facts, **given)) == (url, key)


@pytest.mark.parametrize(
    "facts, given, count",
    [(UBUNTU, {}, "9DC8"), (ROCKY, {}, "060A"), (ROCKY, {"key_fingerprints": ["ABCD"]}, "ABCD")],
)
def test_the_key_of_docker_is_another_for_each_family(facts, given, count):
    (fingerprint,) = found("vendor_fingerprints", facts, container_runtime_vendor_repository=given)
    assert fingerprint.startswith(count)


@pytest.mark.parametrize("machine, name", [("x86_64", "amd64"), ("aarch64", "arm64"), ("riscv64", "riscv64")])
def test_the_kind_of_machine_has_the_name_that_apt_has_for_it(machine, name):
    assert found("architecture", {**UBUNTU, "architecture": machine}) == name


REGISTRIES = [
    {"address": "a.example", "insecure": True},
    {"address": "b.example", "insecure": False, "ca_file": "ca.pem", "username": "ops", "password": "secret"},
    {"address": "c.example", "ca_file": "", "username": ""},
]


def test_registries_are_sorted_by_what_they_need():
    given = {"container_runtime_registries": REGISTRIES, "container_runtime_login_users": ["root", "ai"]}
    assert found("insecure", **given) == ["a.example"]
    assert found("secure", **given) == ["b.example", "c.example"]
    assert [one["address"] for one in found("authorities", **given)] == ["b.example"]
    assert [(one["address"], user) for one, user in found("logins", **given)] == [
        ("b.example", "root"),
        ("b.example", "ai"),
    ]
    assert {one["password"] for one in found("shown", **given)} == {""}


@pytest.mark.parametrize(
    "proxy, url",
    [
        ({}, ""),
        ({"http": "http://p.example:3128"}, "http://p.example:3128"),
        ({"http": "http://p.example:3128", "https": "http://s.example:3129"}, "http://s.example:3129"),
        ({"http": "http://p.example", "username": ""}, "http://p.example"),
        (
            {"https": "http://s.example:3129", "username": "a b", "password": "x/y@z:"},
            "http://a%20b:x%2Fy%40z%3A@s.example:3129",
        ),
    ],
)
def test_a_request_to_a_registry_goes_through_the_proxy_with_its_login(proxy, url):
    assert found("proxy_url", container_runtime_proxy=proxy) == url


@pytest.mark.parametrize(
    "engine, gpu, argv",
    [
        ("docker", False, ["docker", "run", "--rm", "--network", "none", "--entrypoint", "sh", "image", "-c", "true"]),
        (
            "podman",
            True,
            [
                *("podman", "run", "--rm", "--network", "none", "--device", "nvidia.com/gpu=all"),
                *("--security-opt", "label=disable", "--entrypoint", "nvidia-smi", "image", "-L"),
            ],
        ),
    ],
)
def test_the_proof_runs_what_sees_gpus_or_the_command_of_the_inputs(engine, gpu, argv):
    given = {
        "container_runtime_engine": engine,
        "container_runtime_gpu": gpu,
        "container_runtime_proof_image": "image",
        "container_runtime_proof_command": ["sh", "-c", "true"],
    }
    assert found("proof_argv", **given) == argv


ON_HOST = "GPU 0: NVIDIA A100 (UUID: GPU-57abc772-1dd3)\n  MIG 1g.5gb Device 0: (UUID: MIG-aa11-22/7/0)\n"


@pytest.mark.parametrize(
    "inside, unseen",
    [
        (ON_HOST, []),
        ("GPU 0: NVIDIA A100 (UUID: GPU-57abc772-1dd3)\n", ["MIG-aa11-22/7/0"]),
        ("", ["GPU-57abc772-1dd3", "MIG-aa11-22/7/0"]),
    ],
)
def test_gpus_of_the_guest_that_a_container_does_not_see_are_named(inside, unseen):
    seen = {"__container_runtime_host_gpus": {"stdout": ON_HOST}, "__container_runtime_proof": {"stdout": inside}}
    assert found("unseen", **seen) == unseen


@pytest.mark.parametrize(
    "words, hint",
    [
        ("write /var/lib: no space left on device", "Make room"),
        ("x509: certificate signed by unknown authority", "ca_file"),
        ("Error: unauthorized: access denied", "a login"),
        ("dial tcp: lookup reg.example: no such host", "reaches the registry"),
        ("http: server gave HTTP response to HTTPS client", "`insecure`"),
        ("something else", "journal"),
    ],
)
def test_the_trouble_of_an_engine_comes_with_a_hint(words, hint):
    assert hint in found("hint", __container_runtime_trouble=words)


@pytest.mark.parametrize(
    "said, storage, cgroup",
    [
        ('{"Driver": "overlay2", "CgroupDriver": "systemd"}', "overlay2", "systemd"),
        ('{"store": {"graphDriverName": "overlay"}, "host": {"cgroupManager": "cgroupfs"}}', "overlay", "cgroupfs"),
        ("", "", ""),
    ],
    ids=["docker", "podman", "neither"],
)
def test_drivers_of_each_engine_are_read_in_its_own_words(said, storage, cgroup):
    given = {"__container_runtime_info": {"stdout": said}}
    assert (found("storage_driver", **given), found("cgroup_driver", **given)) == (storage, cgroup)


@pytest.mark.parametrize(
    "given, reads",
    [
        ({}, (True, True)),
        ({"container_runtime_engine": "podman", "container_runtime_gpu": False}, (False, False)),
        (
            {"__container_runtime_settings": {"changed": False}, "__container_runtime_gpus": {"changed": True}},
            (False, True),
        ),
    ],
    ids=["skipped", "not asked for", "one changed"],
)
def test_the_proof_reads_again_what_was_changed_or_skipped(given, reads):
    read = found("reads", **given)
    assert (read["settings"], read["gpus"]) == reads
