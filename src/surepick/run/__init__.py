"""One experiment against a sampler, until it is certified or out of budget."""
