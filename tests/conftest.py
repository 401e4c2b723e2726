from hypothesis import HealthCheck, settings

# The same examples every time, so that a green run stays green.
settings.register_profile(
    "house",
    derandomize=True,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("house")
