"""What every test rests on: attncalc is found without being installed; hypothesis draws the same examples each time.

Where ATTNCALC_REQUIRE_TOOLS is set, a test that would be skipped, for want of a tool, fails.
"""

import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

settings.register_profile(
    "gate", derandomize=True, deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.generate],  # a failing example is shown as it was found: a smaller one takes minutes
)  # fmt: skip
settings.register_profile("search", deadline=None, max_examples=5000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gate")  # pytest --hypothesis-profile=search looks further, elsewhere each time


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and os.environ.get("ATTNCALC_REQUIRE_TOOLS") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and ATTNCALC_REQUIRE_TOOLS is set: {report.longrepr[-1]}"
    return report


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="write the goldens anew, to be read")
