"""Docker on a real guest, by the role and its modules: what a user gets, and what happens when the guest is spoilt."""

from __future__ import annotations

import json

import pytest

OURS = "aiready.vsphere"
DAEMON = "/etc/docker/daemon.json"
HERE = "localhost:5000"
USER, PASSWORD = "$oauthtoken", "nvapi-canary"
# The least that runs in a container: one program and what it is linked to.
IMAGE = (
    "tar -C / -c usr/bin/true usr/bin/sleep usr/lib64 usr/lib/x86_64-linux-gnu/libc.so.6 "
    "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 lib lib64 bin | docker import - proof:1"
)
# A registry with a password and a certificate that nobody knows.
REGISTRY = f"""
set -e
systemctl disable --now --quiet docker-registry 2>/dev/null
mkdir -p /srv/registry && cd /srv/registry
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out ca.pem -days 2 -subj /CN=localhost \\
  -addext subjectAltName=DNS:localhost 2>/dev/null
htpasswd -Bbn '{USER}' '{PASSWORD}' > users
cat > config.yml <<END
version: 0.1
storage: {{filesystem: {{rootdirectory: /srv/registry/data}}}}
http: {{addr: "localhost:5000", tls: {{certificate: /srv/registry/ca.pem, key: /srv/registry/key.pem}}}}
auth: {{htpasswd: {{realm: lab, path: /srv/registry/users}}}}
END
systemd-run --quiet --unit=lab-registry docker-registry serve /srv/registry/config.yml
until curl -sko /dev/null https://localhost:5000/v2/; do systemctl is-active --quiet lab-registry; sleep 0.2; done
"""
# dnf with a repository of its own, on a guest that the user declares to be of the other family.
RPM = r"""
set -e
apt-get -qq install --no-install-recommends dnf rpm createrepo-c >/dev/null 2>&1
mkdir -p /srv/rpm /etc/yum.repos.d && cd /srv/rpm
for line in 'Name: lab-engine' 'Version: 1.20.0' 'Release: 1' 'Summary: lab' 'License: none' 'BuildArch: noarch' \
  %description lab %files; do echo "$line"; done > lab.spec
rpmbuild --quiet -bb --define '_rpmdir /srv/rpm' lab.spec
createrepo_c --quiet .
printf '[lab]\nname=lab\nbaseurl=file:///srv/rpm\ngpgcheck=0\n' > /etc/yum.repos.d/lab.repo
"""
ROCKY = {"os_family": "RedHat", "distribution": "Rocky", "pkg_mgr": "dnf", "architecture": "x86_64"}
ROCKY_9 = {**ROCKY, "distribution_version": "9.4", "distribution_major_version": "9", "python_version": "3.9.18"}
ROCKY_8 = {**ROCKY, "distribution_version": "8.10", "distribution_major_version": "8", "python_version": "3.6.8"}
# Only apt knows the way to this server.
KEY = "http://keys.lab.example/gpgkey"
KEYRING = "/usr/share/keyrings/nvidia-container-toolkit-keyring.asc"
PROXY = """
set -e
mkdir -p '/srv/proxy/http:/keys.lab.example'
echo 'what the proxy gives' > '/srv/proxy/http:/keys.lab.example/gpgkey'
echo 'Acquire::http::Proxy::keys.lab.example "http://localhost:3128";' > /etc/apt/apt.conf.d/90-person
systemd-run --quiet --unit=lab-proxy python3 -m http.server --bind localhost --directory /srv/proxy 3128
for _try in $(seq 100); do curl -so /dev/null http://localhost:3128/ && break; sleep 0.1; done
"""


class Docker:
    """A guest with Docker, made by the role once for all tests here."""

    def __init__(self, lab, vm):
        self.lab, self.name, self.guest = lab, vm.name, lab.guest(vm.name)

    def sh(self, text):
        status, out, err = self.guest.run(["sh", "-c", text])
        assert status == 0, f"{text}: {out}{err}"
        return out.strip()

    def role(self, check=False, facts=None, **requested):
        variables = {f"container_runtime_{name}": value for name, value in {"gpu": False, **requested}.items()}
        play = {
            "hosts": self.name,
            "become": True,
            "vars": variables,
            "roles": [f"{OURS}.container_runtime"],
        }
        extra = ["--extra-vars", json.dumps({"ansible_facts": facts})] if facts else []
        return self.lab.playbook([play], check=check, extra=extra)

    def module(self, name, **params):
        (reported,) = self.lab.play([{"name": name, f"{OURS}.{name}": params}], hosts=[self.name])
        return reported


@pytest.fixture(scope="module")
def docker(guests):
    vm = guests.fresh()
    guest = Docker(guests, vm)
    guest.bare = guest.role(check=True)
    guest.first = guest.role()
    yield guest
    guests.remove(vm)


@pytest.fixture(scope="module")
def registry(docker):
    """A registry on the guest itself, with an image that the guest does not have any more."""
    docker.sh("apt-get -qq install --no-install-recommends docker-registry apache2-utils openssl >/dev/null")
    docker.sh(REGISTRY)
    docker.sh(IMAGE)
    docker.sh(f"mkdir -p /etc/docker/certs.d/{HERE} && cp /srv/registry/ca.pem /etc/docker/certs.d/{HERE}/ca.crt")
    docker.sh(f"echo {PASSWORD} | docker login --username '{USER}' --password-stdin {HERE}")
    docker.sh(f"docker tag proof:1 {HERE}/proof:1 && docker push --quiet {HERE}/proof:1")
    docker.sh(f"docker rmi {HERE}/proof:1 && rm -r ~/.docker /etc/docker/certs.d")
    (docker.lab.work / "registry-ca.pem").write_text(docker.sh("cat /srv/registry/ca.pem"))
    return docker


def entry(docker, **more):
    ca = str(docker.lab.work / "registry-ca.pem")
    return {"address": HERE, "username": USER, "password": PASSWORD, "ca_file": ca, **more}


def test_check_mode_on_a_bare_guest_says_what_is_missing_and_fails_nowhere(docker):
    assert docker.bare.status == 0, docker.bare.output
    assert docker.bare.changed


def test_role_installs_a_docker_that_may_lock_memory(docker):
    assert docker.first.status == 0, docker.first.output
    assert docker.sh("systemctl show docker --property=LimitMEMLOCK --value") == "infinity"
    assert docker.sh("docker info 2>/dev/null | sed -n 's/^ Storage Driver: //p'") == "overlay2"


def test_second_run_changes_nothing(docker):
    again = docker.role()
    assert again.status == 0, again.output
    assert again.changed == []


def test_image_is_pulled_with_the_login_and_runs_and_again_nothing_changes(registry):
    requested = {"registries": [entry(registry)], "proof_image": f"{HERE}/proof:1", "proof_command": ["/usr/bin/true"]}
    first, again = registry.role(**requested), registry.role(**requested)
    assert first.status == 0, first.output
    assert "A container runs" in first.output
    assert again.changed == []
    assert PASSWORD not in first.output + again.output
    assert json.loads(registry.sh("cat ~/.docker/config.json"))["auths"].keys() == {HERE}


REFUSED = {
    "a wrong password": ({"password": "wrong-canary"}, "login_refused"),
    "an authority that nobody knows": ({"ca_file": ""}, "registry_untrusted"),
    "an address where nothing is": ({"registry": "localhost:5001"}, "registry_unreachable"),
}


@pytest.mark.parametrize("more, code", REFUSED.values(), ids=REFUSED)
def test_login_is_refused_before_anything_is_written(registry, more, code):
    registry.sh("rm -rf ~/.docker /etc/docker/certs.d")
    requested = {"registry": HERE, "username": USER, "password": PASSWORD, "ca_file": "/srv/registry/ca.pem", **more}
    reported = registry.module("container_registry_login", **requested)
    assert reported["failure"]["code"] == code, reported
    assert "canary" not in json.dumps(reported["login"]) + reported["msg"]
    registry.sh("test ! -e ~/.docker")


def test_full_disk_in_the_middle_of_a_pull_is_reported_with_what_to_do(registry):
    # No layer of it is left of another image either.
    registry.sh("docker image prune --all --force")
    registry.sh("mount -t tmpfs -o size=64k none /var/lib/docker/tmp")
    try:
        run = registry.role(registries=[entry(registry)], proof_image=f"{HERE}/proof:1")
    finally:
        registry.sh("umount /var/lib/docker/tmp")
    assert run.status != 0
    assert "no space left on device" in run.output
    assert "Free space" in run.output


def test_file_that_is_no_json_is_named_and_left(docker):
    docker.sh(f"cp {DAEMON} /srv/kept 2>/dev/null || true; echo '{{' > {DAEMON}")
    try:
        reported = docker.module("container_engine")
        assert reported["failure"]["code"] == "configuration_broken", reported
        assert docker.sh(f"cat {DAEMON}") == "{"
    finally:
        docker.sh(f"rm {DAEMON}; mv /srv/kept {DAEMON} 2>/dev/null || true")


def test_disk_that_is_read_only_is_reported_and_the_engine_goes_on(docker):
    docker.sh("mkdir -p /srv/ro && mount --bind /etc/docker /etc/docker && mount -o remount,ro,bind /etc/docker")
    try:
        reported = docker.module("container_engine", insecure_registries=["registry.lab.example:5000"])
        assert reported["failure"]["code"] == "file_trouble", reported
        assert "writable" in reported["msg"]
    finally:
        docker.sh("umount /etc/docker")
    assert docker.sh("systemctl is-active docker") == "active"


def test_engine_that_does_not_start_with_its_settings_gets_the_old_ones_back(docker):
    # A person gave the service a flag that contradicts what is then written.
    place = "/etc/systemd/system/docker.service.d/90-person.conf"
    flag = "--insecure-registry=theirs.lab.example:5000"
    docker.sh(
        f"printf '[Service]\\nExecStart=\\nExecStart=/usr/sbin/dockerd -H fd:// {flag}\\n' > {place};"
        "systemctl daemon-reload; systemctl restart docker"
    )
    before = docker.sh(f"cat {DAEMON} 2>/dev/null || echo none")
    try:
        reported = docker.module("container_engine", insecure_registries=["mine.lab.example:5000"])
        assert reported["failure"]["code"] == "engine_refused", reported
        assert "insecure-registries" in reported["failure"]["journal"]
        assert docker.sh(f"cat {DAEMON} 2>/dev/null || echo none") == before
        assert docker.sh("systemctl is-active docker") == "active"
    finally:
        docker.sh(f"rm {place}; systemctl daemon-reload; systemctl reset-failed docker; systemctl restart docker")


def test_running_container_is_not_stopped_for_a_setting(docker):
    docker.sh(IMAGE)
    docker.sh("docker run --detach --name training --network none proof:1 /usr/bin/sleep 600")
    proxy = {"http": "http://proxy.lab.example:3128"}
    try:
        reported = docker.module("container_engine", proxy=proxy)
        assert reported["failure"]["code"] == "containers_would_be_lost", reported
        assert reported["failure"]["containers"] == ["training"]
        later = docker.module("container_engine", proxy=proxy, restart="later")
        assert later["engine"]["pending"] == [{"needs": "engine_restart", "what": "engine"}]
        assert docker.module("container_engine", insecure_registries=["mine.lab.example:5000"], restart="later")[
            "changed"
        ]
        assert docker.sh("docker inspect --format {{.State.Running}} training") == "true"
    finally:
        docker.sh("docker rm --force training")
    assert docker.module("container_engine", proxy={}, secure_registries=["mine.lab.example:5000"])["changed"]
    assert docker.sh("docker info 2>/dev/null | grep -c 'HTTPS Proxy' || true") == "0"


def test_engine_of_another_source_is_refused_by_name(docker):
    run = docker.role(source="vendor")
    assert run.status != 0
    assert "docker.io" in run.output
    assert docker.sh("dpkg-query -W -f '${db:Status-Status}' docker.io") == "installed"


def test_key_of_a_repository_comes_by_the_way_of_packages(docker):
    docker.sh(PROXY)
    depot = docker.lab.twin.endpoint()["depot"]["url"]
    repository = {"url": f"{depot}/toolkit/stable", "key_url": KEY, "key_fingerprints": []}
    try:
        run = docker.role(check=True, gpu=True, toolkit_repository=repository)
    finally:
        docker.sh("systemctl stop lab-proxy; rm /etc/apt/apt.conf.d/90-person")
    assert run.status == 0, run.output
    reported = [task for _host, task in run.done]
    assert "Install the verified repository key, nvidia-container-toolkit" in reported
    assert "Report toolkit packages that would be installed" in reported
    assert docker.sh("ls -d /tmp/aiready.* /usr/share/keyrings/nvidia-container-toolkit* 2>/dev/null || true") == ""


def test_key_with_another_fingerprint_is_refused_and_the_old_one_stays(docker):
    depot = docker.lab.twin.endpoint()["depot"]
    # The lab's own key, where NVIDIA's is required.
    repository = {"url": f"{depot['url']}/toolkit/stable", "key_url": f"{depot['url']}/toolkit/gpgkey"}
    docker.sh(f"echo old > {KEYRING}")
    try:
        run = docker.role(gpu=True, toolkit_repository=repository)
        kept = docker.sh(f"cat {KEYRING}; ls -d /tmp/aiready.* 2>/dev/null || true")
    finally:
        docker.sh(f"rm {KEYRING}")
    assert run.status != 0
    reported = " ".join(run.output.split())
    assert "Cannot trust the key of the repository nvidia-container-toolkit" in reported
    assert f"The file holds the key {depot['key_fingerprints'][0]}." in reported
    assert kept == "old"


def test_dnf_is_previewed_and_installs_without_its_module(docker):
    docker.sh(RPM)
    requested = {"facts": ROCKY_9, "packages": ["lab-engine"]}
    preview = docker.role(check=True, facts=ROCKY_9, source="vendor")
    assert preview.status == 0, preview.output
    assert (docker.name, "Report engine packages that would be installed") in preview.done
    first = docker.role(**requested)
    assert first.status == 0, first.output
    assert first.done == [(docker.name, "Install the engine on a RHEL or Rocky Linux guest")]
    assert docker.sh("rpm --query lab-engine") == "lab-engine-1.20.0-1.noarch"
    assert docker.role(**requested).changed == []


def test_python_that_no_module_here_runs_on_is_refused_with_a_way_out(docker):
    run = docker.role(facts=ROCKY_8)
    assert run.status != 0
    assert "install the package python3.11 and set ansible_python_interpreter" in " ".join(run.output.split())
