"""Wrong inputs of AWX, at least twenty, each with the test that compares its message."""

from __future__ import annotations

import ast

import pytest

from house.collection import ROOT

FACE = "tests/twin/tests/controller"
UNIT = "tests/unit/plugins/plugin_utils"
E2E = "tests/e2e"
# Wrong input -> (file of the test, its name).
INPUTS = {
    "user without a role launches or approves": (
        f"{FACE}/test_jobs.py",
        "test_who_has_no_role_neither_launches_nor_approves_nor_changes",
    ),
    "user with the execute role approves": (
        f"{FACE}/test_jobs.py",
        "test_each_role_of_a_workflow_permits_its_own_step",
    ),
    "approval that was answered already": (
        f"{FACE}/test_jobs.py",
        "test_an_approved_workflow_goes_on_with_the_artifacts_of_its_plan",
    ),
    "survey answer out of range, of the wrong type, or missing": (
        f"{FACE}/test_jobs.py",
        "test_wrong_answers_of_a_survey_launch_nothing",
    ),
    "survey answer that the site does not have": (
        f"{UNIT}/awx/test_survey.py",
        "test_wrong_answers_are_rejected_by_name",
    ),
    "site that changed between its plan and the approval": (
        f"{E2E}/test_awx_workflow.py",
        "test_a_site_that_changed_after_its_plan_is_not_changed_by_the_approval",
    ),
    "variable of a playbook outside its choices at the launch": (
        f"{UNIT}/awx/test_launch.py",
        "test_the_controller_accepts_the_survey_and_rejects_wrong_answers",
    ),
    "survey question about a list": (f"{UNIT}/awx/test_survey.py", "test_only_keys_with_one_value_are_asked"),
    "survey default outside the choices": (
        f"{UNIT}/awx/test_survey.py",
        "test_a_default_outside_the_choices_is_rejected",
    ),
    "prepared site that the project does not have": (
        f"{UNIT}/awx/test_project.py",
        "test_an_unknown_choice_names_the_missing_variable",
    ),
    "site that is no dictionary": (f"{UNIT}/awx/test_survey.py", "test_a_site_that_is_no_dictionary_is_rejected"),
    "launch without a credential": (
        f"{FACE}/test_jobs.py",
        "test_a_launch_without_a_credential_of_the_template_is_rejected",
    ),
    "launch without an inventory": (f"{FACE}/test_jobs.py", "test_a_launch_without_an_inventory_is_rejected"),
    "launch with a field of the wrong type": (f"{FACE}/test_jobs.py", "test_a_launch_with_wrong_fields_is_rejected"),
    "project that is not synced": (
        f"{FACE}/test_jobs.py",
        "test_a_job_of_a_project_that_is_not_synced_fails_before_it_runs",
    ),
    "playbook that the project does not have": (
        f"{FACE}/test_service.py",
        "test_a_template_names_a_playbook_of_its_project",
    ),
    "two credentials of one type": (f"{FACE}/test_service.py", "test_a_template_has_one_credential_of_each_type"),
    "credential type that sets a reserved variable": (f"{FACE}/test_service.py", "test_injectors_that_awx_rejects"),
    "schedule with a broken rule": (f"{FACE}/test_service.py", "test_schedules_that_awx_rejects"),
    "prompt that the template does not ask": (
        f"{FACE}/test_service.py",
        "test_a_node_prompts_only_for_what_its_template_asks",
    ),
    "wrong option of the role": (f"{UNIT}/awx/test_objects.py", "test_wrong_options_are_rejected_by_name"),
    "value that the controller would reject, such as a path for a key": (
        f"{UNIT}/awx/test_checks.py",
        "test_what_the_controller_would_reject_has_cause_and_fix",
    ),
    "project or object that the controller rejects": (
        f"{UNIT}/awx/test_connection.py",
        "test_each_rejected_object_has_its_cause_and_fix",
    ),
    "login that a check cannot use": (
        f"{E2E}/test_awx_by_hand.py",
        "test_each_login_of_awx_awx_finds_the_nodes_or_names_the_check_that_did_not_run",
    ),
    "slice of a job template": (
        f"{UNIT}/preflight/test_job.py",
        "test_a_slice_is_reported_with_the_setting_of_its_template",
    ),
    "execution environment without pyVmomi": (
        f"{UNIT}/preflight/test_controller_needs.py",
        "test_an_execution_environment_gets_what_a_job_lacks",
    ),
    "address, certificate, login or scope that the controller does not accept": (
        f"{E2E}/test_awx_login.py",
        "test_a_controller_that_cannot_be_used_is_reported_with_its_fix",
    ),
    "token without the role that the text of an approval needs": (
        f"{E2E}/test_awx_workflow.py",
        "test_a_plan_whose_token_is_rejected_waits_for_no_approval",
    ),
    "password of vCenter that was changed": (
        f"{E2E}/test_preflight_broken.py",
        "test_password_that_was_changed_is_found_although_a_session_is_kept",
    ),
    "credential type that disables the check of the certificate": (
        f"{UNIT}/preflight/test_job.py",
        "test_the_type_of_awx_that_disables_the_check_is_named_with_the_replacement",
    ),
    "certificate of vCenter that the inventory source does not trust": (
        f"{E2E}/test_awx_inventory.py",
        "test_hosts_of_vcenter_are_in_the_group_of_hosts",
    ),
    "hosts of vCenter without a credential": (
        f"{UNIT}/awx/test_objects.py",
        "test_hosts_of_vcenter_are_a_source_with_its_credential",
    ),
    "slices of a playbook or of a number that cannot be": (
        f"{UNIT}/awx/test_objects.py",
        "test_slices_that_cannot_give_the_result_of_one_run_are_rejected",
    ),
    "slice of all stages": (
        f"{E2E}/test_awx_slices.py",
        "test_a_slice_of_the_whole_run_is_rejected_before_it_changes_anything",
    ),
    "name that another object has": (
        f"{FACE}/test_service.py",
        "test_a_second_object_of_a_name_has_the_words_of_awx",
    ),
    "inventory files of a manual project": (
        f"{FACE}/test_service.py",
        "test_awx_reads_no_inventory_from_a_manual_project",
    ),
    "settings of a notification": (
        f"{FACE}/test_notifications.py",
        "test_settings_of_notifications_that_awx_rejects",
    ),
    "target of the results that accepts no files": (
        f"{UNIT}/preflight/test_job.py",
        "test_a_target_that_accepts_no_files_blocks_with_its_fix",
    ),
    "next steps of an unknown step": (
        "tests/unit/playbooks/test_artifacts.py",
        "test_next_steps_of_an_unknown_step_are_rejected",
    ),
}


def test_wrong_inputs_have_a_test_each():
    assert len(INPUTS) == len(set(INPUTS.values())) >= 20


@pytest.mark.parametrize("file", sorted({file for file, _name in INPUTS.values()}))
def test_the_tests_of_wrong_inputs_exist(file):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    named = {name for one, name in INPUTS.values() if one == file}
    assert named <= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
