# SPDX-License-Identifier: MIT
"""Trained weights as C++ constants of tinyattn's types. What users call is in export.py."""
