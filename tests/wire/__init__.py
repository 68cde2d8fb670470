"""The collection against the twin over the real protocol."""

import pytest

# What these assert is shown with both sides, as in a test.
pytest.register_assert_rewrite(f"{__name__}.contract", f"{__name__}.observe")
