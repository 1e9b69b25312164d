# SPDX-License-Identifier: MIT
"""Installs the tools that tests and the bench need, by ports/toolchain."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def bring(*jobs, dry_run=False):
    """Installs the tools of some jobs. With dry_run only prints what would be installed, and exits."""
    command = [ROOT / "ports" / "toolchain", *(["--dry-run"] if dry_run else []), *jobs]
    status = subprocess.run(command, check=False).returncode
    if dry_run or status != 0:
        sys.exit(status)
    become_the_user()


def become_the_user():
    """Continues as the user under sudo, if the clone belongs to a user: only the installation needs root, and build/
    must belong to the user."""
    user = os.environ.get("SUDO_UID", "0")
    if os.geteuid() == 0 and user != "0" and ROOT.stat().st_uid != 0:
        os.execvp("sudo", ["sudo", "-u", f"#{user}", "--", "env", f"PYTHONPATH={ROOT}", sys.executable,
                           *sys.orig_argv[1:]])
