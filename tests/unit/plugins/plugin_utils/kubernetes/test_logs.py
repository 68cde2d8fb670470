# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Logs of pods have a limit, and a cut log is named."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.logs import LINES, SIZE, WIDTH, bounded, logs
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes.state import job_faults, job_success

from unit.roles.variables import tasks_of, value_of


@pytest.mark.parametrize("log", ["", None, "one\ntwo", "\x00\x1b[31m\n" * 3])
def test_a_log_within_the_limits_stays(log):
    assert bounded(log) == (log or "", "")


@pytest.mark.parametrize(
    "log, cut, last",
    [
        ("x\n" * (LINES + 1) + "end\n", f"Only the last {LINES} lines are used.", "end"),
        ("x" * (SIZE + 10), "Only the last 4 MiB are used.", None),
        ("x" * SIZE + "\nend\n", "Only the last 4 MiB are used.", "end"),
        ("y" * (WIDTH + 5), f"Lines are cut to {WIDTH} characters.", "y" * WIDTH),
    ],
    ids=["lines", "one line", "size", "width"],
)
def test_a_log_without_an_end_is_cut_to_its_last_lines(log, cut, last):
    text, reason = bounded(log)
    assert reason == f"Its log is cut. {cut}"
    assert len(text) <= SIZE
    assert (text.splitlines() or [None])[-1] == last


def test_results_that_failed_have_no_log_and_a_cut_one_is_named():
    item = {"metadata": {"name": "one"}}
    other = {"metadata": {"name": "two"}}
    found = logs([{"item": item, "log": "x\n" * (LINES + 1)}, {"item": other, "msg": "no"}])
    assert list(found["texts"]) == ["one"]
    (sentence,) = found["cut"]
    assert "The pod one printed too much." in sentence


def test_the_role_requests_one_line_more_than_it_keeps():
    assert value_of("kubernetes", "__kubernetes_log_lines") == LINES + 1
    reads = [
        task["kubernetes.core.k8s_log"]
        for file in ("node_pods", "pairs", "train", "node_job")
        for task in tasks_of("kubernetes", file)
        if "kubernetes.core.k8s_log" in task
    ]
    assert len(reads) == 6
    assert {one["tail_lines"] for one in reads} == {"{{ __kubernetes_log_lines | int }}"}


def test_the_messages_of_a_training_name_a_cut_log():
    training = {"limit_s": 60, "network": {}, "gpus": 1}
    job = {"kind": "MPIJob", "metadata": {"name": "job", "namespace": "x"}, "status": {"conditions": []}, "spec": {}}
    given = {"jobs": [job], "pods": [], "events": [], "log": "x\n" * (LINES + 5)}
    cut = f"Its log is cut. Only the last {LINES} lines are used."
    assert cut in job_faults({"training": training}, given)[-1]
    assert job_success({"training": training}, given) == f"The training job succeeded. {cut}"
