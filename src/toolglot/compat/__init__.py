"""The faces of other libraries over toolglot: their names, options and results, and no parsing of their own."""
