# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Plans: ask, check, run the steps in order, report each. Values are sledc's business; here a line is only split into words.

log=$ROOT/run/sled/log reported=$ROOT/run/sled/report.log plan=$ROOT/run/sled/plan

# Once a boot. A server that is away now may be back for the plan, which matters more.
send_facts() {
	sledc facts $node 2>"$log" || say "the facts were not taken: $(tail -n 1 "$log")"
}

# report NUMBER OF VERB [OPERAND...]: sends the servers what the step prints; returns the step's exit code, or 6 when a server refused.
report() {
	step="step=$1 of=$2 verb=$3"
	shift 3
	sledc report $node "generation=$generation" "boot=$(cat "$ROOT/proc/sys/kernel/random/boot_id")" $step "log=$log" "$@"
}

# begin_step NUMBER OF VERB: reports the start before anything of the step runs. Sets $begin for the reports that follow;
# 1 when sledd refuses. A server that does not answer stops no step: sledd issued the plan, and gets the start later.
begin_step() {
	case $(report "$@" begin=only 2>"$reported") in
	accepted) begin=begin=done ;;
	unanswered)
		say "step $1/$2 $3: its start is not reported yet: $(tail -n 1 "$reported")"
		begin=
		;;
	*)
		say "step $1/$2 $3 ... not run: $(tail -n 1 "$reported")"
		return 1
		;;
	esac
}

# run_step NUMBER OF VERB OPERAND...: in a separate process, so that its shell ends at the first error.
run_step() {
	number=$1 of=$2
	shift 2
	say "step $number/$of $1 ..."
	begin_step "$number" "$of" "$1" || return 1
	if { sh "$ROOT/lib/sled/step" "$@" 2>"$log" && code=0 || code=$?; echo "end code=$code"; } |
		report "$number" "$of" "$1" $begin 2>"$reported"; then
		say "step $number/$of $1 ... ok"
	else
		say "step $number/$of $1 ... failed, code $?: $(tail -n 1 "$log")"
		[ ! -s "$reported" ] || say "$(tail -n 1 "$reported")"
		return 1
	fi
}

run_plan() {
	end_rescue
	rm -f "$ROOT/run/sled/jump"
	of=$(($(wc -l <"$plan") - 2)) number=0
	if ! sledc check-plan "$plan" 2>"$log"; then
		say "plan of generation $generation is refused: $(tail -n 1 "$log")"
		echo "end code=2" | report 1 1 "$(sed -n '3s/ .*//p' "$plan")" || :
		return 0
	fi
	tail -n +3 "$plan" >"$plan.steps"
	while read -r line <&3; do
		number=$((number + 1))
		set -f
		set -- $line
		set +f
		run_step "$number" "$of" "$@" 3<&- || { debug_shell; return 0; }
	done 3<"$plan.steps"
	jump
}

# Leaves, when the last step prepared that and the servers know. A kernel that does not start is left to the firmware.
jump() {
	[ -s "$ROOT/run/sled/jump" ] || return 0
	sync
	read -r way <"$ROOT/run/sled/jump"
	say "$way"
	case $way in
	kexec)
		arm on
		$MOCK kexec -e || { say "kexec failed" && arm off; }
		;;
	poweroff) $MOCK poweroff -f ;;
	esac
	$MOCK reboot -f
	trap - EXIT
	exit 0
}

# Asks for plans and runs them until the servers deny the token. Backs off to 10 s while there is none to be had.
follow_plans() {
	generation='' pause=1
	while :; do
		answer=$(sledc plan $node "out=$plan" wait=60 ${generation:+"generation=$generation"} 2>"$log") || :
		case $answer in
		'generation '*)
			generation=${answer#generation }
			say "plan of generation $generation"
			run_plan
			;;
		unchanged) ;;
		denied) return 0 ;;
		*)
			say "no plan: $(tail -n 1 "$log"); again in $pause s"
			$MOCK sleep "$pause"
			pause=$((pause < 5 ? pause * 2 : 10))
			continue
			;;
		esac
		pause=1
	done
}
