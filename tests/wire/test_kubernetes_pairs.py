"""The role kubernetes tests pairs of nodes in pods, and writes them to the report of the validation."""

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.pairs import READY, SELF
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.recorded import END, RUN
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.kubernetes import kubernetes as site_kubernetes

from rehearse import playbook
from unit.plugins.module_utils.validation.pairs.ends import TCP
from vsphere_twin.kubernetes.refused import Refused

from . import kubernetes_lab
from .test_kubernetes import SITE

ADDRESS = "10.244.0.3"
FAST, BAD = "pair.iperf3 train-02 > train-01", "pair.iperf3 train-01 > train-02"


def server(pod, container):
    """A server that waits for its client."""
    return None, f"{SELF}address={ADDRESS}\n{READY}\n"


def client(pod, container):
    """The client on train-01 cannot connect."""
    assert ADDRESS in container["command"][2]
    bad = pod["spec"]["nodeName"] == "train-01"
    text = '{"error": "unable to connect to server: Connection refused"}\n' if bad else TCP
    return 0, f"{SELF}address=10.244.0.4\n{RUN}pair.iperf3\n{text}{END}{int(bad)}\n"


def admit(_cluster, kind, new, _old):
    """A webhook rejects the pod that checks the node train-02."""
    labels, annotations = (new["metadata"].get(key) or {} for key in ("labels", "annotations"))
    about = (kind.kind, labels.get("aiready.vsphere/check"), annotations.get("aiready.vsphere/node"))
    if about == ("Pod", "node", "train-02"):
        raise Refused(403, 'admission webhook "policy.example.org" denied the request: label team is missing')


def role(server, folder, checks, kubernetes=None, **more):
    """A play with the checks of the role alone."""
    own = {"kubeconfig": str(server.kubeconfig_file), "checks": checks, **(kubernetes or {})}
    options = {"kubeconfig": str(server.kubeconfig_file)}
    tasks = [
        {
            "kubernetes.core.k8s_info": {"api_version": "v1", "kind": "Node"},
            "register": "__kubernetes_nodes_after",
        },
        {"ansible.builtin.import_role": {"name": "aiready.vsphere.kubernetes", "tasks_from": "check"}},
    ]
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "module_defaults": {"group/kubernetes.core.k8s": options},
        "vars": {
            "kubernetes_site": site_kubernetes({**SITE, "training": None, **more, "kubernetes": own}),
            "kubernetes_poll_s": 1,
            "kubernetes_result_dir": str(folder / "results"),
        },
        "tasks": tasks,
    }
    file, where = folder / "play.yml", folder / "hosts.json"
    file.write_text(yaml.safe_dump([play]))
    local = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    where.write_text(json.dumps({"all": {"hosts": {"localhost": local}}}))
    return playbook.run(file, env=playbook.environment(folder), inventory=where)


def watch(lab):
    """The operator starts a host engine of DCGM on each node. A GPU of train-01 has an error."""
    policy = lab.cluster.get("clusterpolicies", "cluster-policy")
    engine = {**policy["spec"]["dcgm"], "enabled": True}
    lab.cluster.change("clusterpolicies", policy, spec={**policy["spec"], "dcgm": engine})
    lab.world.hardware["train-01"].failed_gpus = (0,)
    lab.world.settle()


# About 40 modules take more time than all other tests of pairs.
@pytest.mark.turn(3, of=6)
def test_pairs_of_nodes_are_tested_in_pods(tmp_path):
    with kubernetes_lab.launch(vgpu=False) as lab, kubernetes_lab.working(lab):
        lab.world.programs.update(server=server, client=client)
        watch(lab)
        lab.cluster.create("namespaces", {"metadata": {"name": "aiready"}})
        lab.cluster.admission.append(admit)
        stack = {"dcgm": {"health": True}, "gds": {"read_file": "/data/sample.bin"}}
        whole = {"gpu": {"mode": "passthrough"}, "stack": stack}
        finished = role(lab, tmp_path, {"image": "images.example.org/measure:1", "pairs": {}}, **whole)
        assert finished.status != 0
        file = tmp_path / "results" / "validation.json"
        assert file.exists(), finished.output
        rows = {row["id"]: row for row in json.loads(file.read_text())["checks"]}
        # The site has no threshold for it.
        assert rows[FAST]["verdict"] == "not_required", rows[FAST]
        assert rows[FAST]["measured"] == 6.0
        assert rows[BAD]["verdict"] not in ("pass", "skipped", "not_required")
        assert "Connection refused" in rows[BAD]["why"]
        evidence = tmp_path / "results" / rows[FAST]["evidence"]
        assert f"iperf3 -J -c {ADDRESS} -B 10.244.0.4" in evidence.read_text()
        # The stack of a node, before the pairs and after them.
        assert (rows["guest.gds_read train-01"]["verdict"], rows["guest.gds_read train-01"]["measured"]) == (
            "pass",
            3.27345,
        )
        assert "A DBE has occurred on GPU 0" in rows["guest.dcgm_health train-01"]["why"]
        assert rows["guest.xid train-01"]["verdict"] == "pass"
        assert "label team is missing" in rows["guest.kernel train-02"]["why"]
        assert "Cannot apply" not in rows["guest.kernel train-01"]["why"]
        assert lab.cluster.list("pods", "aiready") == []
