#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that are given a disk refuse a sledc that ignores SLED_TEST_DISK, before they run anything with it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
status=0
if "$here/guard" "$SLEDC"; then echo "ok - a build for tests"; else echo "not ok - a build for tests"; status=1; fi

# A build that is installed: the one for tests, without what makes it one.
cat >"$TMPDIR/sledc" <<END
#!/bin/sh
echo "\$*" >>"$TMPDIR/calls"
exec env -u SLED_TEST_READS -u SLED_TEST_DISK "$SLEDC" "\$@"
END
chmod +x "$TMPDIR/sledc"
for test in image/test_image.sh net/test_http.py plan/test_operands.py ../pack/test_capture.py \
	../write/test_target.py ../write/test_resume.py; do
	: >"$TMPDIR/calls"
	case $test in *.sh) interpreter='sh' ;; *) interpreter='python3' ;; esac
	code=0
	SLEDC=$TMPDIR/sledc "$interpreter" "$here/$test" >"$TMPDIR/out" 2>&1 || code=$?
	if [ "$code" = 2 ] && grep -q 'is not a build for tests' "$TMPDIR/out" &&
		[ "$(cat "$TMPDIR/calls")" = 'inspect in=/dev/null' ]; then
		echo "ok - $test refuses another build"
	else
		echo "not ok - $test with another build: exit $code"
		cat "$TMPDIR/out" "$TMPDIR/calls"
		status=1
	fi
done
exit $status
