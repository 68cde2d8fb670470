"""What a guest needs for its container engine: packages, repositories, registries, and what the proof expects."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

runtime_plan = FilterModule().filters()["runtime_plan"]

UBUNTU = {"os_family": "Debian", "distribution": "Ubuntu", "distribution_release": "noble"}
ROCKY = {"os_family": "RedHat", "distribution": "Rocky"}
INPUTS = {
    "cdi": False,
    "engine": "docker",
    "gpu": True,
    "login_users": ["root"],
    "packages": [],
    "proof_command": ["true"],
    "proof_image": "",
    "proxy": {},
    "pull_timeout_s": 1800,
    "registries": [],
    "source": "distribution",
    "toolkit_repository": {},
    "toolkit_version": "1.20.0",
    "vendor_repository": {},
}
READ = (
    *("packages", "settings", "gpus", "packages_proof", "settings_proof", "gpus_proof"),
    *("info", "pull", "host_gpus", "container"),
)


def plan(facts=UBUNTU, seen=None, **inputs):
    named = {f"container_runtime_{name}": value for name, value in {**INPUTS, **inputs}.items()}
    before = copy.deepcopy(named)
    answer = runtime_plan(named, facts, {**dict.fromkeys(READ, {}), **(seen or {})}, "train-01")
    assert named == before
    return answer


@pytest.mark.parametrize(
    "engine, source, facts, packages",
    [
        ("docker", "distribution", UBUNTU, ["docker.io"]),
        ("docker", "distribution", ROCKY, []),
        ("docker", "vendor", ROCKY, ["docker-ce", "docker-ce-cli", "containerd.io"]),
        ("containerd", "distribution", UBUNTU, ["containerd"]),
        ("containerd", "vendor", UBUNTU, ["containerd.io"]),
        ("podman", "distribution", ROCKY, ["podman"]),
        ("podman", "vendor", UBUNTU, []),
    ],
)
def test_each_engine_has_its_packages_where_its_source_offers_it(engine, source, facts, packages):
    assert plan(facts, engine=engine, source=source)["packages"]["engine"] == packages
    assert plan(facts, engine=engine, source=source, packages=["own"])["packages"]["engine"] == ["own"]


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
    packages = plan(seen={"packages": LISTED})["packages"]
    assert (packages["missing"], packages["in_the_way"]) == ([], [])
    packages = plan(seen={"packages": LISTED}, source="vendor")["packages"]
    assert packages["missing"] == ["docker-ce", "docker-ce-cli", "containerd.io"]
    assert packages["in_the_way"] == ["docker.io"]


def test_before_packages_are_listed_all_are_missing_and_none_is_in_the_way():
    packages = plan()["packages"]
    assert (packages["missing"], packages["in_the_way"]) == (["docker.io"], [])


@pytest.mark.parametrize("facts, tool, highest", [(UBUNTU, "dpkg-query", 1), (ROCKY, "rpm", 8)])
def test_packages_are_listed_with_those_of_the_other_source_and_of_the_toolkit(facts, tool, highest):
    packages = plan(facts, packages=["own"])["packages"]
    assert packages["query"][0] == tool
    assert packages["query"][-8:] == [
        *("own", "docker-ce", "docker-ce-cli", "containerd.io"),
        *("nvidia-container-toolkit", "nvidia-container-toolkit-base"),
        *("libnvidia-container-tools", "libnvidia-container1"),
    ]
    assert packages["highest_status"] == highest


def test_packages_of_the_toolkit_are_wrong_in_any_other_version():
    assert plan(seen={"packages": LISTED})["toolkit"]["wrong"] == [
        "nvidia-container-toolkit-base",
        "libnvidia-container-tools",
        "libnvidia-container1",
    ]


def test_rpm_lists_the_toolkit_in_its_own_words():
    lines = ["rpm libnvidia-container1 1.20.0-1", "package podman is not installed"]
    found = plan(ROCKY, {"packages": {"stdout_lines": lines}}, engine="podman")
    assert "libnvidia-container1" not in found["toolkit"]["wrong"]
    assert found["packages"]["missing"] == ["podman"]


@pytest.mark.parametrize(
    "facts, name", [(UBUNTU, "libnvidia-container1=1.20.0-*"), (ROCKY, "libnvidia-container1-1.20.0")]
)
def test_the_toolkit_is_installed_at_its_version(facts, name):
    toolkit = plan(facts)["toolkit"]
    assert (len(toolkit["versioned"]), toolkit["versioned"][-1]) == (len(toolkit["packages"]), name)


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
    repository = plan(toolkit_repository=given)["toolkit_repository"]
    assert (repository["url"], repository["key_url"]) == (f"{url}/deb/$(ARCH)", key)
    repository = plan(ROCKY, toolkit_repository=given)["toolkit_repository"]
    assert (repository["url"], repository["key_url"]) == (f"{url}/rpm/$basearch", key)


@pytest.mark.parametrize(
    "facts, given, url, key",
    [
        (UBUNTU, {}, "https://download.docker.com/linux/ubuntu", "https://download.docker.com/linux/ubuntu/gpg"),
        (
            ROCKY,
            {},
            "https://download.docker.com/linux/centos/$releasever/$basearch/stable",
            "https://download.docker.com/linux/centos/gpg",
        ),
        (
            ROCKY,
            {"url": "https://m.example"},
            "https://m.example/$releasever/$basearch/stable",
            "https://m.example/gpg",
        ),
        (
            UBUNTU,
            {"key_url": "https://k.example"},
            "https://download.docker.com/linux/ubuntu",
            "https://k.example",
        ),
        ({}, {}, "https://download.docker.com/linux/centos", "https://download.docker.com/linux/centos/gpg"),
    ],
)
def test_the_repository_of_docker_is_that_of_the_distribution(facts, given, url, key):
    vendor = plan(facts, vendor_repository=given)["vendor"]
    assert (vendor["url"], vendor["key_url"]) == (url, key)


@pytest.mark.parametrize(
    "facts, name, suite, key",
    [
        (UBUNTU, "docker", "noble stable", "/etc/apt/keyrings/docker.asc"),
        (ROCKY, "docker-ce-stable", " stable", "/etc/pki/rpm-gpg/RPM-GPG-KEY-docker-ce"),
    ],
)
def test_the_repository_of_docker_is_named_as_its_vendor_names_it(facts, name, suite, key):
    vendor = plan(facts)["vendor"]
    assert (vendor["name"], vendor["suite"], vendor["key"]) == (name, suite, key)


@pytest.mark.parametrize(
    "engine, source, due",
    [
        ("docker", "vendor", True),
        ("containerd", "vendor", True),
        ("podman", "vendor", False),
        ("docker", "distribution", False),
    ],
)
def test_the_repository_of_docker_is_due_where_the_engine_comes_from_it(engine, source, due):
    assert plan(engine=engine, source=source)["vendor"]["due"] is due


@pytest.mark.parametrize(
    "facts, given, prints",
    [
        (UBUNTU, {}, ["9DC858229FC7DD38854AE2D88D81803C0EBFCD88"]),
        (ROCKY, {}, ["060A61C51B558A7F742B77AAC52FEB6B621E9F35"]),
        (ROCKY, {"key_fingerprints": ["ABCD"]}, ["ABCD"]),
        (ROCKY, {"key_fingerprints": []}, []),
    ],
)
def test_the_key_of_docker_is_another_for_each_family_and_an_empty_list_switches_the_check_off(facts, given, prints):
    assert plan(facts, vendor_repository=given)["vendor"]["fingerprints"] == prints


@pytest.mark.parametrize(
    "given, prints", [({}, ["C95B321B61E88C1809C4F759DDCAE044F796ECB0"]), ({"key_fingerprints": []}, [])]
)
def test_the_key_of_the_toolkit_is_that_of_nvidia_also_of_a_mirror(given, prints):
    found = plan(toolkit_repository={"url": "https://m.example/x", **given})["toolkit_repository"]
    assert found["fingerprints"] == prints
    assert found["setting"] == "site.runtime.toolkit_repository (container_runtime_toolkit_repository of the role)"


KEY = {"key_url": "https://k.example"}


@pytest.mark.parametrize(
    "authority, options", [("", []), ("/etc/ca.pem", ["-o", "Acquire::https::CaInfo=/etc/ca.pem"])]
)
def test_apt_downloads_a_key_with_the_authority_of_its_server(authority, options):
    found = plan(toolkit_repository={**KEY, "ca": authority})["toolkit_repository"]
    assert found["download"] == ["/usr/lib/apt/apt-helper", *options, "download-file", "https://k.example"]
    assert found["ca"] == authority


def test_dnf_downloads_a_key_with_the_python_that_runs_dnf():
    found = plan(ROCKY, vendor_repository={**KEY, "ca": "/etc/ca.pem"})["vendor"]["download"]
    assert found[:3] == ["sh", "-c", 'exec $(sed -n \'1s/^#!//p\' /usr/bin/dnf) -c "$0" "$@"']
    assert found[4:] == ["https://k.example", "/etc/ca.pem"]
    compile(found[3], "download", "exec")
    assert "url, authority, path = sys.argv[1:]" in found[3]


REGISTRIES = [
    {"address": "a.example", "insecure": True},
    {"address": "b.example", "insecure": False, "ca_file": "ca.pem", "username": "ops", "password": "secret"},
    {"address": "c.example", "ca_file": "", "username": ""},
]


def test_registries_are_sorted_by_what_they_need():
    found = plan(registries=REGISTRIES, login_users=["root", "ai"])["registries"]
    assert found["insecure"] == ["a.example"]
    assert found["secure"] == ["b.example", "c.example"]
    assert [one["address"] for one in found["authorities"]] == ["b.example"]
    login = {
        "registry": "b.example",
        "username": "ops",
        "password": "secret",
        "insecure": False,
        "check": "always",
        "ca_file": "/etc/docker/certs.d/b.example/ca.crt",
    }
    assert found["logins"] == [{**login, "user": "root"}, {**login, "user": "ai"}]


def test_what_loops_print_has_no_password():
    found = plan(registries=REGISTRIES)["registries"]
    assert "secret" not in str([found["shown"], found["authorities"]])
    assert [one["address"] for one in found["shown"]] == ["a.example", "b.example", "c.example"]


def test_a_login_is_checked_as_its_registry_says():
    registry = {"address": "a.example", "username": "ops", "insecure": True, "check": "never"}
    (login,) = plan(registries=[registry])["registries"]["logins"]
    assert (login["check"], login["insecure"], login["password"], login["ca_file"]) == ("never", True, "", "")


@pytest.mark.parametrize(
    "engine, folder, units",
    [
        ("docker", "/etc/docker/certs.d", ["containerd", "docker"]),
        ("containerd", "/etc/containerd/certs.d", ["containerd"]),
        ("podman", "/etc/containers/certs.d", []),
    ],
)
def test_each_engine_has_its_folder_and_its_services(engine, folder, units):
    found = plan(engine=engine)
    assert (found["registries"]["folder"], found["units"]) == (folder, units)


@pytest.mark.parametrize(
    "proxy, url",
    [
        ({}, ""),
        ({"http": "http://p.example:3128"}, "http://p.example:3128"),
        ({"http": "http://p.example:3128", "https": "http://s.example:3129"}, "http://s.example:3129"),
        ({"http": "http://p.example", "https": ""}, "http://p.example"),
        ({"http": "http://p.example", "username": ""}, "http://p.example"),
        ({"http": "http://p.example", "username": "ops", "password": 123}, "http://ops:123@p.example"),
        (
            {"https": "http://s.example:3129", "username": "a b", "password": "x/y@z:"},
            "http://a%20b:x%2Fy%40z%3A@s.example:3129",
        ),
    ],
)
def test_a_request_to_a_registry_goes_through_the_proxy_with_its_login(proxy, url):
    assert plan(proxy=proxy)["registries"]["proxy"] == url


@pytest.mark.parametrize(
    "engine, gpu, argv",
    [
        ("docker", False, ["docker", "run", "--rm", "--network", "none", "--entrypoint", "sh", "image", "-c", "true"]),
        (
            "docker",
            True,
            [
                *("docker", "run", "--rm", "--network", "none", "--runtime", "nvidia"),
                *("--env", "NVIDIA_VISIBLE_DEVICES=all", "--env", "NVIDIA_DRIVER_CAPABILITIES=compute,utility"),
                *("--entrypoint", "nvidia-smi", "image", "-L"),
            ],
        ),
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
    given = {"engine": engine, "gpu": gpu, "proof_image": "image", "proof_command": ["sh", "-c", "true"]}
    assert plan(**given)["container"]["argv"] == argv


@pytest.mark.parametrize(
    "engine, image, words",
    [
        ("docker", "", "container_runtime_proof_image is empty"),
        ("containerd", "", "container_runtime_proof_image is empty"),
        ("containerd", "proof:1", "containerd has no command for it"),
        ("docker", "proof:1", ""),
    ],
)
def test_a_proof_that_cannot_run_has_its_reason(engine, image, words):
    assert plan(engine=engine, proof_image=image)["container"]["undecided"] == words


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
    found = plan(seen={"info": {"stdout": said}})["drivers"]
    assert (found["storage"], found["cgroup"]) == (storage, cgroup)


@pytest.mark.parametrize(
    "inputs, driver, reported",
    [
        ({}, "systemd", True),
        ({}, "cgroupfs", False),
        ({"cdi": True}, "systemd", False),
        ({"gpu": False}, "systemd", False),
        ({"engine": "podman"}, "systemd", False),
    ],
)
def test_gpus_that_a_reload_of_systemd_takes_away_are_reported(inputs, driver, reported):
    found = plan(seen={"info": {"stdout": f'{{"CgroupDriver": "{driver}"}}'}}, **inputs)["drivers"]
    assert ("container_runtime_cdi" in found["note"]) is reported


@pytest.mark.parametrize(
    "inputs, seen, reads",
    [
        ({}, {}, (True, True)),
        ({"engine": "podman", "gpu": False}, {}, (False, False)),
        ({}, {"settings": {"changed": False}, "gpus": {"changed": True}}, (False, True)),
        ({}, {"settings": {"skipped": True, "changed": False}, "gpus": {"msg": "no change"}}, (False, False)),
    ],
    ids=["skipped", "not asked for", "one changed", "in check mode"],
)
def test_the_proof_reads_again_what_was_changed_or_skipped(inputs, seen, reads):
    read = plan(seen=seen, **inputs)["reads"]
    assert (read["settings"], read["gpus"]) == reads


TOOLKIT = [
    f"ii {name} 1"
    for name in (
        *("nvidia-container-toolkit", "nvidia-container-toolkit-base"),
        *("libnvidia-container-tools", "libnvidia-container1"),
    )
]


@pytest.mark.parametrize(
    "inputs, seen, gaps",
    [
        (
            {},
            {
                "packages_proof": {"stdout_lines": ["ii docker.io 1", *TOOLKIT[1:]]},
                "settings_proof": {"engine": {"changes": [{"path": "memlock", "before": "64", "after": "unlimited"}]}},
            },
            [
                ("packages", "nvidia-container-toolkit: requested installed, found none"),
                ("engine", "memlock: requested unlimited, found 64"),
                ("toolkit", "toolkit: requested verified, found not read"),
            ],
        ),
        (
            {"gpu": False},
            {"packages_proof": {"stdout_lines": ["ii docker.io 1"]}, "settings": {"changed": False}},
            [],
        ),
    ],
    ids=["differences", "as requested"],
)
def test_the_proof_names_what_is_not_as_requested(inputs, seen, gaps):
    found = plan(seen=seen, **inputs)["gaps"]
    assert [(gap["step"], gap["text"]) for gap in found] == [(step, f"train-01: {text}") for step, text in gaps]
