"""Kernels: one mathematics a file."""
