"""A device of bnctl that computes with numpy."""
