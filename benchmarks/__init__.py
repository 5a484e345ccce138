"""How fast toolglot is: the figures with their goals, its peers beside it, and a gate that counts instructions.

The rule: only ratios are told, each of two things done in turn in one process, and every answer is checked.
"""
