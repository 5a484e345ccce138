"""Other systems' own functions over toolglot: the same names and results, read by one engine.

The rule: a face maps names, options and results; it reads no reply itself. Each is a module of its own, imported by
name: `from toolglot.compat import webmcp`.
"""
