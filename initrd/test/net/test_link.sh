#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A feed over a link that is cut for SECONDS in the middle, and from a server that is away for as long: it goes on, and
# reads nothing twice. Needs root, nginx and nft; $SLED_TOOLS: builds of tool_*.c.
set -eu
seconds=${1:-3}
here=$(cd "$(dirname "$0")" && pwd)
link=$here/link
name=sled-link-$(($$ % 10000))
work=$(mktemp -d)
trap '"$link" down "$name" || true; rm -rf "$work"' EXIT INT TERM
address=$("$link" address "$name")
size=40000000

mkdir "$work/files"
head -c $size /dev/urandom > "$work/files/f"
cat > "$work/nginx.conf" << END
user root;
worker_processes 1;
pid $work/pid;
error_log $work/log;
events {}
http {
	access_log off;
	server { listen $address:80; root $work/files; }
}
END

serve() { "$link" run "$name" nginx -c "$work/nginx.conf" -e "$work/log"; }
away() { kill "$(cat "$work/pid")"; }
cut_link() { "$link" cut "$name"; }
mend_link() { "$link" mend "$name"; }

# Waits until the copy is under way; the whole takes about 3 seconds.
under_way() {
	for _ in $(seq 100); do
		[ "$(wc -l < "$work/out")" -lt 20 ] || return 0
		sleep 0.05
	done
	echo "# nothing comes"
	return 1
}

# copy NUMBER WHAT BREAK MEND
copy() {
	: > "$work/out"
	"$SLED_TOOLS/tool_fetch" feed "http://$address/f" "$work/copy" 2 2 60 > "$work/out" &
	fetch=$!
	under_way
	"$3"
	sleep "$seconds"
	"$4"
	wait "$fetch"
	cmp "$work/copy" "$work/files/f"
	# One byte more: from it the size is learnt.
	tail -n 1 "$work/out" | grep -q "^received $((size + 1)) of $size "
	echo "ok $1 - $2"
}

"$link" up "$name" 100mbit
serve
copy 1 "the link is cut for $seconds s" cut_link mend_link
copy 2 "the server is away for $seconds s" away serve
echo 1..2
