# SPDX-License-Identifier: Apache-2.0
"""Keeps the bytecode of what Python imports from zip files in $SLED_BYTECODE, by the digest of the source.

Ansible sends each task as a zip file of sources, and zipimport compiles them each time: a quarter of the CPU time of a
task. Python imports this file at its start, if its folder is in PYTHONPATH.
"""

import hashlib
import marshal
import os
import sys
import zipimport

FOLDER = os.environ.get("SLED_BYTECODE", "")
compile_source = zipimport._compile_source  # type: ignore[attr-defined]


def kept(path, source):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201 # to import types takes longer than it helps
    """The bytecode of a source, compiled if it is new. Where the folder cannot be written, all is compiled."""
    name = path.partition(".zip/")[2] or path
    digest = hashlib.sha256(b"\0".join([sys.version.encode(), name.encode(), source])).hexdigest()
    file, own = f"{FOLDER}/{digest}", f"{FOLDER}/{digest}.{os.getpid()}"
    try:
        with open(file, "rb") as opened:
            return marshal.load(opened)
    except (OSError, EOFError, ValueError, TypeError):
        code = compile_source(path, source)
    try:
        os.makedirs(FOLDER, exist_ok=True)
        with open(own, "wb") as opened:
            marshal.dump(code, opened)
        os.replace(own, file)
    except OSError:
        pass
    return code


if FOLDER:
    zipimport._compile_source = kept  # type: ignore[attr-defined]
