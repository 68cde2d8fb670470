from __future__ import annotations

WHY_NO_ROWS = (
    "A test is no state: asked for twice, it runs twice. "
    "tests/unit/plugins/plugin_utils/validation/test_pair_steps.py runs its "
    "scripts, and the scenario of the role validation has guests."
)
