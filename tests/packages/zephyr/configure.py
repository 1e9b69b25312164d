# SPDX-License-Identifier: MIT
"""What Zephyr's scripts/kconfig/kconfig.py does: reads Kconfig and a prj.conf, writes .config, and fails on a warning.

    configure.py KCONFIG PRJ_CONF DOT_CONFIG
"""
import sys

import kconfiglib

kconfig = kconfiglib.Kconfig(sys.argv[1], warn_to_stderr=False)
kconfig.warn_assign_undef = True
kconfig.load_config(sys.argv[2])
# What was asked for and could not be had; Zephyr ends with the same complaint.
for symbol in kconfig.unique_defined_syms:
    asked = "nmy"[symbol.user_value] if symbol.user_value in (0, 1, 2) else symbol.user_value
    if asked is not None and asked != symbol.str_value:
        kconfig.warnings.append(f"{symbol.name} was assigned {asked} and got {symbol.str_value}")
kconfig.write_config(sys.argv[3])
sys.exit("\n".join(kconfig.warnings) or 0)
