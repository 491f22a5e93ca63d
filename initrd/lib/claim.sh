# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Claims that this machine is a node, and waits until the servers admit the claim (contract/admission.md). No token is
# read here: sledc keeps the newest one in the file of $node.

claim_file=$ROOT/run/sled/claim claim_repeat=60

# Sends a hello until a server responds, and prints the claim code. Returns 1 if the servers refuse it.
claim_hello() {
	claim_backoff=1
	until sledc hello $node "nic=$network_wanted" wait=60 >"$claim_file" 2>"$plan_log"; do
		console_say "no claim: $(tail -n 1 "$plan_log")"
		! grep -q '^refused$' "$claim_file" || return 1
		wait_by_chance "$claim_backoff"
		claim_backoff=$((claim_backoff < 5 ? claim_backoff * 2 : 10))
	done
	[ ! -s "$plan_log" ] || console_say "$(tail -n 1 "$plan_log")"
	while read -r claim_line; do console_say "$claim_line"; done <"$claim_file"
	claim_shown=$(wait_seconds_up)
}

# Prints the claim code again if the last time is a minute ago, for a console that was not recorded or watched then.
claim_show() {
	[ $(($(wait_seconds_up) - claim_shown)) -ge "$claim_repeat" ] || return 0
	console_say "$(head -n 1 "$claim_file")"
	claim_shown=$(wait_seconds_up)
}

# Polls once for the admission, and prints what sledc prints.
claim_poll() { sledc plan $node "out=$plan_file" wait=20 2>"$plan_log" || :; }

# claim_pause SECONDS: a server that responded at once at that time is not asked at once again.
claim_pause() { [ "$(wait_seconds_up)" -gt "$1" ] || $MOCK sleep 1; }

# Returns as soon as the claim is admitted and the boot token is stored; returns 1 if a hello is refused. The facts
# admit a claim that lacks nothing, so that it need not poll: each request counts where a thousand machines boot
# together. Those of another claim are for the people who decide about it, and the incumbent sends them again.
claim_wait() {
	claim_hello || return 1
	plan_send_facts
	until plan_facts_admit; do
		claim_polled=$(wait_seconds_up)
		case $(claim_poll) in
		waiting) claim_pause "$claim_polled" ;;
		unchanged | 'generation '*)
			plan_repeat_facts
			break
			;;
		denied)
			console_say "the claim ended; the next hello follows in 10 s"
			$MOCK sleep 10
			claim_hello || return 1
			plan_send_facts
			;;
		*)
			console_say "no admission: $(tail -n 1 "$plan_log")"
			$MOCK sleep 5
			;;
		esac
		claim_show
	done
	console_say "the claim is admitted"
}
