# SPDX-License-Identifier: Apache-2.0
"""Stands in for get-pip.py, which ansible-test downloads: the pip that comes with Python installs the requested one."""

import subprocess
import sys

# A separate process, because ensurepip disables pip's settings in its own.
subprocess.check_call([sys.executable, "-m", "ensurepip"])
requested = [argument for argument in sys.argv[1:] if argument not in ("--no-setuptools", "--no-wheel")]
sys.exit(subprocess.call([sys.executable, "-m", "pip", "install", *requested]))
