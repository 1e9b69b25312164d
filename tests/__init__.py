# SPDX-License-Identifier: MIT
"""Scripts of the tests are modules of this package: python3 -B -m tests.FOLDER.SCRIPT at the top of the tree."""
