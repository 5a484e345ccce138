"""Hypothesis profiles: `ci`, the default, repeats itself; `quick` is a first look; `long` searches anew (`make laws`).

Choose one with `--hypothesis-profile` or the variable HYPOTHESIS_PROFILE.
"""

import os

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "ci",
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "quick",
    max_examples=int(os.environ.get("TOOLGLOT_EXAMPLES", "25")),
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # shrinking takes longer than the rest
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "long",
    max_examples=5_000,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
