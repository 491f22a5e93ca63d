# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Plans: requests and checks them, runs their steps in order, reports each. Only sledc interprets values; here a line is
# only split into words.

plan_log=$ROOT/run/sled/log plan_report_log=$ROOT/run/sled/report.log plan_file=$ROOT/run/sled/plan

# Prints the disks of this machine, as the facts report them.
plan_disks() { sledc disks 2>/dev/null | sed 's/ why=.*//'; }

# sledd resolves selectors with the facts, so they are sent again until a server has taken them.
plan_send_facts() {
	plan_seen=$(plan_disks) plan_unsent=
	plan_facts=$(sledc facts $node 2>"$plan_log") && return 0
	plan_unsent=yes
	console_say "the facts were not sent: $(tail -n 1 "$plan_log")"
}

# plan_facts_admit: whether the facts that were sent last have admitted the claim.
plan_facts_admit() { [ "$plan_facts" = admitted ]; }

# plan_repeat_facts: the facts that were sent do not count.
plan_repeat_facts() { plan_unsent=yes; }

plan_disks_changed() { [ "$(plan_disks)" != "$plan_seen" ]; }

# plan_report NUMBER OF VERB [OPERAND...]: sends the output of the step to the servers. Returns the step's exit code, or
# 6 if a server refused the report.
plan_report() {
	plan_step="step=$1 of=$2 verb=$3"
	shift 3
	sledc report $node "generation=$plan_generation" "run=$plan_nth" \
		"boot=$(cat "$ROOT/proc/sys/kernel/random/boot_id")" $plan_step "log=$plan_log" "$@"
}

# plan_begin_step NUMBER OF VERB: reports the start before anything of the step runs, unless the end of the step before
# did. Sets $plan_begin for the reports that follow. Returns 1 if sledd refuses. A step runs even if no server responds:
# sledd issued the plan, and gets the start later.
plan_begin_step() {
	plan_begin=begin=done
	[ ! "$plan_started" ] || return 0
	case $(plan_report "$@" begin=only 2>"$plan_report_log") in
	accepted) ;;
	unanswered)
		console_say "step $1/$2 $3: its start is not reported yet: $(tail -n 1 "$plan_report_log")"
		plan_begin=
		;;
	*)
		console_say "step $1/$2 $3 ... not run: $(tail -n 1 "$plan_report_log")"
		return 1
		;;
	esac
}

# plan_run_step NUMBER OF VERB OPERAND...: runs it in a separate process, whose shell ends at the first error. Sets
# $plan_started if the start of the next step was reported with its end.
plan_run_step() {
	plan_number=$1 plan_of=$2
	shift 2
	console_say "step $plan_number/$plan_of $1 ..."
	plan_begin_step "$plan_number" "$plan_of" "$1" || return 1
	plan_next=
	[ "$1" = run ] || plan_next=$(sed -n "$((plan_number + 1)){s/ .*//;p;}" "$plan_file.steps")
	if plan_started=$(
		{
			sh "$ROOT/lib/sled/step" "$@" 2>"$plan_log" && plan_code=0 || plan_code=$?
			echo "end code=$plan_code"
		} |
			plan_report "$plan_number" "$plan_of" "$1" $plan_begin ${plan_next:+"next=$plan_next"} \
				2>"$plan_report_log"
	); then
		console_say "step $plan_number/$plan_of $1 ... ok"
	else
		console_say "step $plan_number/$plan_of $1 ... failed, code $?: $(tail -n 1 "$plan_log")"
		[ ! -s "$plan_report_log" ] || console_say "$(tail -n 1 "$plan_report_log")"
		return 1
	fi
}

plan_run() {
	rescue_end
	memory_end
	fetch_end
	layout_forget
	rm -f "$ROOT/run/sled/jump"
	plan_started=
	plan_of=$(($(wc -l <"$plan_file") - 2)) plan_number=0
	if ! sledc check-plan "$plan_file" 2>"$plan_log"; then
		console_say "plan of generation $plan_generation is refused: $(tail -n 1 "$plan_log")"
		echo "end code=2" | plan_report 1 1 "$(sed -n '3s/ .*//p' "$plan_file")" || :
		return 0
	fi
	plan_first=$(sed -n '3{s/ .*//;p;}' "$plan_file")
	if hooks_forbid "$plan_first"; then
		cp "$hooks_failed" "$plan_log"
		console_say "plan of generation $plan_generation is not run: $(tail -n 1 "$plan_log")"
		echo "end code=1" | plan_report 1 "$plan_of" "$plan_first" || :
		return 0
	fi
	tail -n +3 "$plan_file" >"$plan_file.steps"
	while read -r plan_line <&3; do
		plan_number=$((plan_number + 1))
		set -f
		set -- $plan_line
		set +f
		plan_run_step "$plan_number" "$plan_of" "$@" 3<&- || { console_shell; return 0; }
	done 3<"$plan_file.steps"
	plan_jump
}

# Leaves the Sled system if the last step prepared it; the servers have its report. If a kernel does not start, the
# machine restarts through its firmware.
plan_jump() {
	[ -s "$ROOT/run/sled/jump" ] || return 0
	sync
	read -r plan_method <"$ROOT/run/sled/jump"
	console_say "$plan_method"
	case $plan_method in
	kexec)
		watchdog_switch on
		$MOCK kexec -e || { console_say "kexec failed" && watchdog_switch off; }
		;;
	poweroff) $MOCK poweroff -f ;;
	root) memory_enter ;;
	esac
	$MOCK reboot -f
	trap - EXIT
	exit 0
}

plan_back_off() {
	wait_by_chance "$plan_pause"
	plan_pause=$((plan_pause < 5 ? plan_pause * 2 : 10))
}

# Requests plans and runs them until the servers deny the token. After errors, pauses of up to 10 s.
plan_follow() {
	plan_nth='' plan_pause=1
	while :; do
		if [ "$plan_unsent" ] || plan_disks_changed; then plan_send_facts; fi
		plan_answer=$(sledc plan $node "out=$plan_file" wait=60 \
			${plan_nth:+"run=$plan_nth"} 2>"$plan_log") || :
		case $plan_answer in
		'generation '*)
			if plan_disks_changed; then # the plan was made for other disks
				console_say "the disks have changed: the plan is requested again in $plan_pause s"
				plan_back_off
				continue
			fi
			plan_nth=${plan_answer##* }
			plan_generation=${plan_answer#generation } plan_generation=${plan_generation%% *}
			console_say "plan of generation $plan_generation"
			plan_run
			;;
		unchanged) ;;
		denied) return 0 ;;
		*)
			console_say "no plan: $(tail -n 1 "$plan_log"); retry in $plan_pause s"
			plan_back_off
			continue
			;;
		esac
		plan_pause=1
	done
}

# plan_detail TEXT: adds it to the log, and to what the events of the node have of this step, in steps that redirect
# their standard output to the log.
plan_detail() {
	echo "$1"
	plan_details=${plan_details:+$plan_details; }$1
	echo "detail $plan_details" >&3
}
