"""Faces of other systems over this engine: their names, options and results, mapped.

The rule: a face imports the public names alone and holds no parsing of its own.
"""
