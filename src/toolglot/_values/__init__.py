"""Codecs: each reads a dialect of values incrementally and writes strict JSON, and writes the dialect back."""
