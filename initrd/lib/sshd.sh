# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The configuration of the installed system's SSH server: where it looks for keys, and whom it lets in (sshd_config(5)).

sshd_config=$ROOT/run/sled/sshd # "keyword value" of each line that counts for everybody, in sshd's order
sshd_fips=''

# sshd_read: the files of the system, once a step; sets $sshd_fips where FIPS 140 is requested. A file includes others,
# as deep as distributions do, and 64 at most. What cannot be read ends the step.
sshd_read() {
	: >"$sshd_config.files"
	# openSUSE has its own below /usr, for as long as /etc has none.
	sshd_main=/usr/etc/ssh/sshd_config
	if configure_has /etc/ssh/sshd_config; then sshd_main=/etc/ssh/sshd_config; fi
	sshd_print 3 "$sshd_main" >"$sshd_config" || exit
	if configure_has /etc/system-fips || configure_says '^FIPS' /etc/crypto-policies/config ||
		configure_argument fips=1; then
		sshd_fips=yes
	fi
}

# sshd_print DEPTH PATTERN...: what follows a Match in a file is for some people or addresses.
sshd_print() (
	set -f
	sshd_depth=$1
	shift
	sshd_files=$(sledc tree files "$disk_root" "$@") || exit
	[ -n "$sshd_files" ] || exit 0
	printf '%s\n' "$sshd_files" | sort | while IFS= read -r sshd_file; do
		echo "$sshd_file" >>"$sshd_config.files"
		[ "$(wc -l <"$sshd_config.files")" -le 64 ] || break
		sshd_text=$(sledc tree get "$disk_root" "$sshd_file") || exit
		printf '%s\n' "$sshd_text" | tr -d '\r"' | tr '\t=' '  ' |
			awk '/^ *#/ { next } tolower($1) == "match" { exit } NF { $1 = tolower($1); print }' |
			while read -r sshd_word sshd_value; do
				if [ "$sshd_word" != include ]; then
					printf '%s %s\n' "$sshd_word" "$sshd_value"
				elif [ "$sshd_depth" -gt 1 ]; then
					# shellcheck disable=SC2086 # patterns
					sshd_value=$(printf '%s\n' $sshd_value | sed 's,^[^/],/etc/ssh/&,')
					# shellcheck disable=SC2086 # patterns
					sshd_print $((sshd_depth - 1)) $sshd_value || exit
				fi
			done || exit
	done
)

# sshd_first KEYWORD: prints its value; the first one counts.
sshd_first() { awk -v word="$1" '$1 == word { $1 = ""; sub(/^ /, ""); print; exit }' "$sshd_config"; }

# sshd_all KEYWORD: prints the values of all its lines, a word per line.
sshd_all() { awk -v word="$1" '$1 == word { for (i = 2; i <= NF; i++) print $i }' "$sshd_config"; }

# sshd_offers ALGORITHM...: whether HostKeyAlgorithms permits one of them.
sshd_offers() (
	set -f
	sshd_list=$(sshd_first hostkeyalgorithms | tr , ' ')
	case $sshd_list in
	'' | +* | ^*) exit 0 ;;
	-*) sshd_found=1 sshd_missing=0 sshd_list=${sshd_list#-} ;;
	*) sshd_found=0 sshd_missing=1 ;;
	esac
	for sshd_algorithm; do
		sshd_code=$sshd_missing
		for sshd_pattern in $sshd_list; do
			# shellcheck disable=SC2254 # a pattern
			case $sshd_algorithm in $sshd_pattern) sshd_code=$sshd_found ;; esac
		done
		[ "$sshd_code" != 0 ] || exit 0
	done
	exit 1
)

# sshd_kinds: prints the kinds of which the server takes a key, best first. The FIPS modules of distributions have no
# Ed25519.
sshd_kinds() {
	if [ -z "$sshd_fips" ] && sshd_offers ssh-ed25519; then echo ed25519; fi
	if sshd_offers ecdsa-sha2-nistp256; then echo ecdsa; fi
	if sshd_offers rsa-sha2-512 rsa-sha2-256 ssh-rsa; then echo rsa; fi
}

# sshd_key_file KIND: prints the file that the server reads such a key from; nothing if none of its HostKey lines can
# mean that. A name without a kind stands for any.
sshd_key_file() {
	sshd_files=$(sshd_all hostkey)
	if [ -z "$sshd_files" ]; then
		echo "/etc/ssh/ssh_host_$1_key"
		return
	fi
	printf '%s\n' "$sshd_files" | awk -v kind="$1" '
		/^\// && ($0 ~ kind || $0 !~ /ed25519|ecdsa|rsa|dsa/) { print; exit }'
}

# sshd_keys_file HOME USER UID: prints the file in which the server looks for the user's keys first; nothing if nowhere.
sshd_keys_file() {
	sshd_found=$(sshd_first authorizedkeysfile)
	sshd_found=${sshd_found%% *}
	[ "$sshd_found" != none ] || return 0
	HOME=$1 USER=$2 NUMBER=$3 PATTERN=${sshd_found:-.ssh/authorized_keys} awk '
		BEGIN {
			text = ENVIRON["PATTERN"]
			if (text !~ /^(\/|%h)/) text = "%h/" text
			while (at = index(text, "%")) {
				word = substr(text, at + 1, 1)
				value = word == "h" ? ENVIRON["HOME"] : word == "u" ? ENVIRON["USER"] : \
					word == "U" ? ENVIRON["NUMBER"] : word
				line = line substr(text, 1, at - 1) value
				text = substr(text, at + 2)
			}
			print line text
		}'
}

# sshd_groups USER: prints the groups of which the user is a member.
sshd_groups() {
	sshd_passwd=$(sledc tree get "$disk_root" /etc/passwd) || exit
	sshd_group=$(sledc tree get "$disk_root" /etc/group) || exit
	{
		printf '%s\n' "$sshd_passwd" | sed 's/^/user:/'
		printf '%s\n' "$sshd_group" | sed 's/^/group:/'
	} | awk -F : -v user="$1" '
		$1 == "user" && $2 == user { number = $5 }
		$1 == "group" && ($4 == number || index("," $5 ",", "," user ",")) { print $2 }'
}

# sshd_lists KEYWORD NAME...: whether one of the names is in its list. What is for some hosts alone permits, and denies
# nothing here.
sshd_lists() (
	set -f
	sshd_keyword=$1
	shift
	for sshd_pattern in $(sshd_all "$sshd_keyword"); do
		case $sshd_keyword in allow*) sshd_pattern=${sshd_pattern%%@*} ;; esac
		for sshd_name; do
			# shellcheck disable=SC2254 # a pattern
			case $sshd_name in $sshd_pattern) exit 0 ;; esac
		done
	done
	exit 1
)

# sshd_refuses USER: prints why the server does not let the user in with a key; nothing if it does. What a Match adds is
# seen by the installed system alone.
sshd_refuses() (
	set -f
	sshd_user=$1
	sshd_found=$(sshd_groups "$1") || exit
	# shellcheck disable=SC2086 # names
	set -- $sshd_found
	case $(sshd_first pubkeyauthentication | tr '[:upper:]' '[:lower:]') in
	no) echo 'PubkeyAuthentication no' ;;
	esac
	case $sshd_user:$(sshd_first permitrootlogin | tr '[:upper:]' '[:lower:]') in
	root:no | root:forced-commands-only) echo "PermitRootLogin $(sshd_first permitrootlogin)" ;;
	esac
	! sshd_lists denyusers "$sshd_user" || echo "DenyUsers $(sshd_all denyusers | paste -s -d ' ' -)"
	! sshd_lists denygroups "$@" || echo "DenyGroups $(sshd_all denygroups | paste -s -d ' ' -)"
	if [ -n "$(sshd_first allowusers)" ] && ! sshd_lists allowusers "$sshd_user"; then
		echo "AllowUsers $(sshd_all allowusers | paste -s -d ' ' -)"
	fi
	if [ -n "$(sshd_first allowgroups)" ] && ! sshd_lists allowgroups "$@"; then
		echo "AllowGroups $(sshd_all allowgroups | paste -s -d ' ' -)"
	fi
)
