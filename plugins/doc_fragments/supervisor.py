# SPDX-License-Identifier: Apache-2.0
"""Documentation of the options of those who follow nodes to their ends, once for both modules."""

from __future__ import annotations


class ModuleDocFragment:
    """Options in SPEC of plugin_utils/supervisor.py."""

    DOCUMENTATION = r"""
options:
  cache:
    description: Folder on the controller that keeps kernel and initrd for warm starts. Its content may be deleted.
    type: path
    default: ~/.cache/sled/warm
  warm:
    description: Largest number of warm starts at a time. Each copies kernel and initrd over ssh.
    type: int
    default: 8
"""
