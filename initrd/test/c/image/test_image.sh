#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The verbs that look at images, with the contract's vectors.
set -eu
"$(dirname "$0")/../guard" "$SLEDC"
status=0
vectors=$SLED_VECTORS/image
check() { # check WANTED NAME COMMAND...: exit code
	wanted=$1 name=$2
	shift 2
	got=0
	"$@" > "$TMPDIR/out" 2>&1 || got=$?
	if [ "$got" = "$wanted" ]; then
		echo "ok - $name"
	else
		echo "not ok - $name: exit $got, not $wanted"
		cat "$TMPDIR/out"
		status=1
	fi
}
says() { # says NAME PATTERN: in the output of the last command
	if grep -q "$2" "$TMPDIR/out"; then
		echo "ok - $1"
	else
		echo "not ok - $1"
		cat "$TMPDIR/out"
		status=1
	fi
}

gaps=$vectors/ok/gaps.raw.zst
digest=sha256:41a2c05a72c129dccd3894b2cde423653c42833c53a8ba2918eec760f2944383
encoded() { printf %s "$1" | sed 's/%/%25/g; s/ /%20/g; s/=/%3D/g'; }

key=$vectors/keys/test.key
pub=$vectors/keys/test.pub
signed() { "$SLEDC" sign in="$vectors/$1" name=gaps key="$key" 2>"$TMPDIR/err" | sed -n 's/^operands //p'; }

# wrote FILE HASH: a reader of chunks, onto a file full of something else
wrote() {
	file=$1 hash=$2
	head -c 8388608 /dev/zero | tr '\0' '\245' > "$TMPDIR/written"
	# shellcheck disable=SC2046 # words, as they stand
	check 0 "write $file" "$SLEDC" write image="file://$vectors/$file" file="$TMPDIR/written" \
		digest=$digest mode=full gaps=zero keys="$pub" $(signed "$file")
	echo "$hash  $TMPDIR/written" | sha256sum -c --status || { echo "not ok - $file: the disk"; status=1; }
}

while read -r file code raw of_chunks; do
	check "$code" "verify $file" "$SLEDC" verify in="$vectors/$file"
	case $code$of_chunks/$file in 50* | 00/ok/gaps.*) wrote "$file" "$raw" ;; esac
	if [ "$code" = 0 ] && [ "$raw" != - ]; then
		zstd -qdcf "$vectors/$file" > "$TMPDIR/raw"
		check 0 "the raw disk of $file" "$SLEDC" verify in="$vectors/$file" file="$TMPDIR/raw"
	fi
done < "$vectors/manifest"

# An index of one entry more than the limits, in a file with a hole.
python3 - "$TMPDIR/large" << 'END'
import struct, sys
size = 40 + 128 * 40 + (33554432 + 1) * 84
with open(sys.argv[1], "wb") as file:
    file.seek(8 + size)
    file.write(struct.pack("<II8sIIQQ104x", 0x184D2A5B, 136, b"sled-end", 1, 0, 8, size))
    file.write(bytes(24) + struct.pack("<IBI", 2, 0, 0x8F92EAB1))
END
check 3 "an index beyond the limits" "$SLEDC" verify in="$TMPDIR/large"
rm "$TMPDIR/large"

check 0 "inspect" "$SLEDC" inspect in="$gaps"
says "digest" "^digest *$digest\$"
says "partition" "1  ext4 .* 1.0 MiB .* 2.0 MiB .* 8.0 KiB"
check 0 "inspect for programs" "$SLEDC" inspect image="file://$gaps" json=yes
python3 -c 'import json, sys; assert json.load(sys.stdin)["used_bytes"] == 425984' < "$TMPDIR/out" ||
	{ echo "not ok - JSON"; status=1; }
check 2 "inspect what?" "$SLEDC" inspect
check 2 "a digest that is none" "$SLEDC" verify in="$gaps" digest=sha256:0
check 5 "another digest" "$SLEDC" verify in="$gaps" \
	digest=sha256:0000000000000000000000000000000000000000000000000000000000000000
check 0 "this digest" "$SLEDC" verify in="$gaps" digest=$digest
check 2 "disk and file" "$SLEDC" verify in="$gaps" file=/dev/null disk=only

zstd -qdcf "$gaps" > "$TMPDIR/raw"
printf x | dd of="$TMPDIR/raw" bs=1 seek=4194304 conv=notrunc status=none
check 0 "a free byte may differ" "$SLEDC" verify in="$gaps" file="$TMPDIR/raw"
printf x | dd of="$TMPDIR/raw" bs=1 seek=5242889 conv=notrunc status=none
check 5 "a used byte may not" "$SLEDC" verify in="$gaps" file="$TMPDIR/raw"
says "where" "^differs: bytes 5242880 to 6291455 "
says "how much" "1 of 3 chunks differ"
before=$(sha256sum < "$TMPDIR/raw")
check 5 "nor on a disk" env SLED_TEST_DISK="$TMPDIR/raw" "$SLEDC" verify in="$gaps" disk=only
[ "$before" = "$(sha256sum < "$TMPDIR/raw")" ] || { echo "not ok - verify wrote"; status=1; }
truncate -s 3M "$TMPDIR/raw"
check 5 "a file too short" "$SLEDC" verify in="$gaps" file="$TMPDIR/raw"

check 5 "a trailer with a signature" "$SLEDC" verify in="$vectors/bad/trailer_signature_of_version_1.raw.zst"
says "what to do" "signature of an unknown version: pack the disk again, and sign the image with sledctl"
check 5 "unsigned" "$SLEDC" write image="file://$gaps" digest=$digest file="$TMPDIR/written" keys="$pub"
says "why" "not signed: sign it"
check 1 "without keys" env SLED_KEYS="$TMPDIR/none" "$SLEDC" write image="file://$gaps" digest=$digest \
	file="$TMPDIR/written"
says "what is missing" "pass keys=image.pub"
check 5 "allowed where this machine does not allow it" "$SLEDC" write image="file://$gaps" digest=$digest \
	file="$TMPDIR/written" keys="$pub" unsigned=allow
says "why it is ignored" "unsigned=allow is ignored: there is no file /etc/sled/unsigned"

check 0 "diff with itself" "$SLEDC" diff old="$gaps" new="$gaps"
says "all is shared" "^shared *3 "
check 0 "diff" "$SLEDC" diff old="$gaps" new="$vectors/ok/last_chunk_short.raw.zst" json=yes
says "changed" '"changed": {"chunks": 1, "used_bytes": 4608'
says "removed" '"removed": {"chunks": 2, "used_bytes": 421888'

zeros=sha256:0000000000000000000000000000000000000000000000000000000000000000
writes() { # writes WANTED NAME IMAGE STATEMENT SIGNATURE: as in a plan
	check "$1" "$2" env SLED_KEYS="$vectors/keys/test.pub" SLED_FLOOR="$TMPDIR/floor" "$SLEDC" write \
		image="file://$gaps" digest="$digest" file="$TMPDIR/written" \
		name="$3" statement="$(encoded "$4")" signature="$(encoded "$5")"
}
check 0 "sign" "$SLEDC" sign in="$gaps" name=gaps-v1 line=gaps digest=$digest key="$key"
says "a statement" "^statement image 2 name=gaps-v1 line=gaps signed=[0-9TZ:-]* digest=$digest$"
says "what is signed" "8.0 MiB, .* 2 partitions: ext4 xfs"
statement=$(sed -n 's/^statement //p' "$TMPDIR/out") signature=$(sed -n 's/^signature //p' "$TMPDIR/out")
date=$(echo "$statement" | sed 's/.*signed=\([^ ]*\) .*/\1/')
writes 0 "the node writes it" gaps-v1 "$statement" "$signature"
writes 5 "not under another name" gaps-v2 "$statement" "$signature"
says "which" "the statement was signed for image gaps-v1"
writes 5 "not with another date" gaps-v1 "$(echo "$statement" | sed 's/signed=2/signed=3/')" "$signature"
echo "gaps $date" >"$TMPDIR/floor"
writes 0 "at the floor" gaps-v1 "$statement" "$signature"
echo 'gaps 9999-01-01T00:00:00Z' >"$TMPDIR/floor"
writes 5 "not below the floor" gaps-v1 "$statement" "$signature"
says "which floor" "signed $date, but this site accepts line gaps only from 9999-01-01T00:00:00Z on"
echo 'gaps tomorrow' >"$TMPDIR/floor"
writes 1 "not with floors that do not parse" gaps-v1 "$statement" "$signature"
says "which line" "floor: line 1: \"gaps tomorrow\""
rm "$TMPDIR/floor"
check 2 "a statement alone" env SLED_KEYS="$vectors/keys/test.pub" "$SLEDC" write image="file://$gaps" \
	digest=$digest file="$TMPDIR/written" name=gaps-v1 statement="$(encoded "$statement")"
says "what is missing" "belong together"
check 2 "a signature alone" env SLED_KEYS="$vectors/keys/test.pub" "$SLEDC" write image="file://$gaps" \
	digest=$digest file="$TMPDIR/written" name=gaps-v1 signature="$(encoded "$signature")"
check 0 "sign" "$SLEDC" sign in="$gaps" name=gaps-v1 key="$key"
# shellcheck disable=SC2046 # words, as they stand
check 0 "write takes what sign prints" "$SLEDC" write image="file://$gaps" digest=$digest file="$TMPDIR/written" \
	keys="$vectors/keys/test.pub" $(sed -n 's/^operands //p' "$TMPDIR/out")
check 0 "the name is the line" "$SLEDC" sign in="$gaps" name=gaps key="$key"
says "both" "name=gaps line=gaps "
check 2 "sign blindly" "$SLEDC" sign digest=$digest name=gaps key="$key"
says "what is missing" "exactly one of in=FILE and image=URL"
check 5 "sign another digest" "$SLEDC" sign in="$gaps" digest=$zeros name=gaps key="$key"
check 5 "sign what is damaged" "$SLEDC" sign in="$vectors/bad/flip_in_index.raw.zst" name=gaps key="$key"
check 2 "sign for no name" "$SLEDC" sign in="$gaps" key="$key"
check 2 "sign for a name that is none" "$SLEDC" sign in="$gaps" name=Gaps key="$key"
check 1 "sign with a public key" "$SLEDC" sign in="$gaps" name=gaps key="$vectors/keys/test.pub"
check 5 "sign what is no image" "$SLEDC" sign in="$key" name=gaps key="$key"
exit $status
