#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The verbs that look at images, with the contract's vectors.
set -eu
"$(dirname "$0")/guard" "$SLEDC"
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

while read -r file code keys raw; do
	if [ "$keys" = - ]; then unset SLED_KEYS; else export SLED_KEYS="$vectors/keys/$keys"; fi
	# A verb for people takes an image that nobody signed, and says so.
	[ "$file $code" != "ok/gaps.raw.zst 5" ] || code=0
	check "$code" "verify $file, keys $keys" "$SLEDC" verify in="$vectors/$file"
	if [ "$raw" != - ]; then
		zstd -qdcf "$vectors/$file" > "$TMPDIR/raw"
		check 0 "the raw disk of $file" "$SLEDC" verify in="$vectors/$file" file="$TMPDIR/raw"
	fi
done < "$vectors/manifest"
unset SLED_KEYS

gaps=$vectors/ok/gaps.raw.zst
digest=sha256:41a2c05a72c129dccd3894b2cde423653c42833c53a8ba2918eec760f2944383
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

check 0 "diff with itself" "$SLEDC" diff old="$gaps" new="$vectors/ok/signed.raw.zst"
says "all is shared" "^shared *3 "
check 0 "diff" "$SLEDC" diff old="$gaps" new="$vectors/ok/last_chunk_short.raw.zst" json=yes
says "changed" '"changed": {"chunks": 1, "used_bytes": 4608'
says "removed" '"removed": {"chunks": 2, "used_bytes": 421888'

cp "$gaps" "$TMPDIR/signed.raw.zst"
check 0 "sign" "$SLEDC" sign in="$TMPDIR/signed.raw.zst" key="$vectors/keys/test.key"
check 0 "signed as the contract says" cmp "$TMPDIR/signed.raw.zst" "$vectors/ok/signed.raw.zst"
check 0 "sign what another has signed" "$SLEDC" sign in="$TMPDIR/signed.raw.zst" key="$vectors/keys/test.key"
check 0 "sign a digest" "$SLEDC" sign digest=$digest key="$vectors/keys/test.key"
says "base64" '^7/eSZI6bXXcBTUN03BvP2YQiVOISRe1BpFLjd2F5utK/ooIEO90Z2nMcd4kFbu/4upkgj/Aq0zb8ooeBDS+kCw==$'
check 2 "sign what?" "$SLEDC" sign key="$vectors/keys/test.key"
check 1 "sign with a public key" "$SLEDC" sign digest=$digest key="$vectors/keys/test.pub"
check 5 "sign what is no image" "$SLEDC" sign in="$vectors/keys/test.key" key="$vectors/keys/test.key"
exit $status
