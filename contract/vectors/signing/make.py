# SPDX-License-Identifier: Apache-2.0
"""Makes the tables beside it again, from ../../image.md, "Signature": `python3 make.py`.

They are committed; a reader needs only them. A case is lines of a word and its value:

    code       exit code of ../../exit-codes.md
    name       of the image in the plan
    digest     of the image in the plan
    statement  in the plan; absent: none
    signature  in the plan; absent: none
    floor      a line of /etc/sled/image.floor; may be repeated; absent: there is no such file

The signatures are to be checked with ../image/keys/both.pub.
"""

from __future__ import annotations

import base64
import runpy
import sys
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "image"))

from form import KEY, OTHER, key_of  # noqa: E402

NAME, LINE, DATE = "debian-12-v7", "debian-12", "2026-11-23T15:50:00Z"
DIGEST, OTHER_DIGEST = "sha256:" + "8f" * 32, "sha256:" + "8e" * 32
STRANGER = key_of(3)
write = runpy.run_path(str(HERE.parent / "cases.py"))["write"]


def text(name: str = NAME, line: str = LINE, signed: str = DATE, digest: str = DIGEST) -> str:
    """A statement."""
    return f"image 2 name={name} line={line} signed={signed} digest={digest}"


def sign(message: str | bytes, key: Ed25519PrivateKey = KEY) -> str:
    """The signature of a message, in base64."""
    data = message.encode("utf-8") if isinstance(message, str) else message
    return base64.b64encode(key.sign(data)).decode("ascii")


def version_1() -> str:
    """A signature as there was before statements."""
    return sign(b"sled-image-1:" + bytes.fromhex(DIGEST[7:]))


def vector(
    statement: str | None, signature: str | None = "", floor: tuple[str, ...] = (), name: str = NAME
) -> list[tuple[str, str]]:
    """The lines of a vector. An empty signature is replaced by that of the statement."""
    lines = [("name", name), ("digest", DIGEST)]
    if statement is not None:
        lines.append(("statement", statement))
        signature = sign(statement) if signature == "" else signature
    if signature:
        lines.append(("signature", signature))
    return lines + [("floor", line) for line in floor]


def good() -> dict[str, list[tuple[str, str]]]:
    """Accepted."""
    long = "a" * 128
    return {
        "statement": vector(text()),
        "statement_by_the_second_key": vector(text(), sign(text(), OTHER)),
        "name_of_128_bytes": vector(text(name=long, line=long), name=long),
        "every_character": vector(text(name="0a.b_c-d", line="9-8_7.6z"), name="0a.b_c-d"),
        "line_is_the_name": vector(text(line=NAME)),
        "leap_day": vector(text(signed="2028-02-29T23:59:59Z")),
        "leap_day_of_2000": vector(text(signed="2000-02-29T00:00:00Z")),
        "year_9999": vector(text(signed="9999-12-31T23:59:59Z")),
        "floor_is_the_date": vector(text(), floor=(f"{LINE} {DATE}",)),
        "floor_before": vector(text(), floor=(f"{LINE} 2026-11-23T15:49:59Z",)),
        "floor_of_another_line": vector(text(), floor=("debian-13 2027-01-01T00:00:00Z",)),
        "floor_of_the_name": vector(text(), floor=(f"{NAME} 2027-01-01T00:00:00Z",)),
    }


def wrong_dates() -> dict[str, str]:
    """Dates that do not exist, or are written in another way."""
    return {
        "seconds": "1795376503",
        "day": "2026-11-23",
        "no_zone": "2026-11-23T15:50:00",
        "offset": "2026-11-23T15:50:00+00:00",
        "fraction": "2026-11-23T15:50:00.5Z",
        "lower_case": "2026-11-23t15:50:00z",
        "space": "2026-11-23 15:50:00Z",
        "month_13": "2026-13-23T15:50:00Z",
        "month_0": "2026-00-23T15:50:00Z",
        "day_0": "2026-11-00T15:50:00Z",
        "november_31": "2026-11-31T15:50:00Z",
        "february_29": "2026-02-29T15:50:00Z",
        "february_29_of_2100": "2100-02-29T15:50:00Z",
        "hour_24": "2026-11-23T24:00:00Z",
        "minute_60": "2026-11-23T15:60:00Z",
        "second_60": "2026-11-23T15:50:60Z",
        "year_1999": "1999-12-31T23:59:59Z",
        "sign": "2026-11-23T15:50:+1Z",
        "empty": "",
    }


def wrong_statements() -> dict[str, str]:
    """Statements that do not parse, apart from their dates."""
    return {
        "version_1": text().replace("image 2", "image 1"),
        "version_3": text().replace("image 2", "image 3"),
        "no_version": text().removeprefix("image 2 "),
        "other_word": text().replace("image", "plan"),
        "empty": "",
        "cut": text()[:-1],
        "byte_more": text() + "0",
        "leading_space": " " + text(),
        "trailing_space": text() + " ",
        "two_spaces": text().replace(" line", "  line"),
        "tab": text().replace(" line", "\tline"),
        "other_order": f"image 2 line={LINE} name={NAME} signed={DATE} digest={DIGEST}",
        "name_missing": text().replace(f"name={NAME} ", ""),
        "line_missing": text().replace(f"line={LINE} ", ""),
        "date_missing": text().replace(f"signed={DATE} ", ""),
        "digest_missing": text().replace(f" digest={DIGEST}", ""),
        "key_twice": text().replace("line=", f"name={NAME} line="),
        "unknown_key": text() + " until=2027-01-01T00:00:00Z",
        "carriage_return": text() + "\r",
        "name_empty": text(name=""),
        "name_of_129_bytes": text(name="a" * 129),
        "name_upper_case": text(name="Debian"),
        "name_with_slash": text(name="debian/12"),
        "name_starts_with_hyphen": text(name="-12"),
        "name_percent": text(name="debian%2d12"),
        "name_not_ascii": text(name="d\u00e9bian"),
        "line_empty": text(line=""),
        "line_with_star": text(line="debian-*"),
        "digest_upper_case": text(digest=DIGEST.upper().replace("SHA", "sha")),
        "digest_short": text(digest=DIGEST[:-2]),
        "digest_of_another_kind": text(digest=DIGEST.replace("256", "512")),
    }


def forms() -> dict[str, list[tuple[str, str]]]:
    """What does not parse, each statement with the right signature: code 2."""
    statements = wrong_statements()
    statements |= {f"date_{name}": text(signed=date) for name, date in wrong_dates().items()}
    unsigned = {
        "signature_missing": vector(text(), None),
        "signature_short": vector(text(), sign(text())[:-4]),
        "signature_a_letter_less": vector(text(), sign(text())[:-1]),
        "signature_alone": vector(None, sign(text())),
        "signature_of_version_1_alone": vector(None, version_1()),
        "signature_not_base64": vector(text(), "?" + sign(text())[1:]),
    }
    return {f"form_{name}": vector(statement) for name, statement in statements.items()} | unsigned


def refused() -> dict[str, list[tuple[str, str]]]:
    """Statements that this image, plan or site does not accept: code 5."""
    old = text(signed="2026-11-23T15:49:59Z")
    return {
        "other_name": vector(text(name="debian-12-v8")),
        "name_of_the_line": vector(text(name=LINE)),
        "other_digest": vector(text(digest=OTHER_DIGEST)),
        "key_of_a_stranger": vector(text(), sign(text(), STRANGER)),
        "signature_of_another_date": vector(text(), sign(old)),
        "signature_of_another_name": vector(text(), sign(text(name="debian-12-v8"))),
        "signature_with_line_feed": vector(text(), sign(text() + "\n")),
        "signature_of_version_1": vector(text(), version_1()),
        "signature_of_the_hash": vector(text(), sign(bytes.fromhex(DIGEST[7:]))),
        "floor_a_second_later": vector(old, floor=(f"{LINE} {DATE}",)),
        "floor_a_year_later": vector(text(), floor=("debian-13 2020-01-01T00:00:00Z", f"{LINE} 2027-11-23T15:50:00Z")),
        "nothing": vector(None, None),
    }


def floors() -> dict[str, list[tuple[str, str]]]:
    """Files of floors that do not parse: code 1, and nothing is accepted."""
    files = {
        "one_word": (LINE,),
        "three_words": (f"{LINE} {DATE} x",),
        "two_spaces": (f"{LINE}  {DATE}",),
        "no_date": (f"{LINE} yesterday",),
        "day": (f"{LINE} 2026-11-23",),
        "refuse": (f"{LINE} refuse",),
        "upper_case": (f"Debian {DATE}",),
        "twice": (f"{LINE} {DATE}", f"{LINE} {DATE}"),
        "empty_line": ("", f"{LINE} {DATE}"),
    }
    return {f"floor_file_{name}": vector(text(), floor=lines) for name, lines in files.items()}


def texts(code: int, vectors: dict[str, list[tuple[str, str]]]) -> dict[str, bytes]:
    """The vectors as cases of a table."""
    return {
        name: "".join(f"{word} {value}\n" for word, value in [("code", str(code)), *lines]).encode()
        for name, lines in vectors.items()
    }


def main() -> None:
    """Writes both tables."""
    head = "Made by make.py, which describes the lines: signatures that are"
    write("signing/ok", f"{head} accepted.", texts(0, good()))
    write("signing/bad", f"{head} refused.", texts(2, forms()) | texts(5, refused()) | texts(1, floors()))


if __name__ == "__main__":
    main()
