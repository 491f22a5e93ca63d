# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The configuration of the installed system's SSH server: where it looks for keys, and whom it lets in (sshd_config(5)).

sshd_config=$ROOT/run/sled/sshd # "keyword value" of each line that counts for everybody, in sshd's order

# sshd_read: the files of the system, once a step. A file includes others, as deep as distributions do, and 64 at most.
sshd_read() {
	: >"$sshd_config.files"
	# openSUSE has its own below /usr, for as long as /etc has none.
	if configure_has /etc/ssh/sshd_config; then
		sshd_print 3 /etc/ssh/sshd_config
	else
		sshd_print 3 /usr/etc/ssh/sshd_config
	fi >"$sshd_config"
}

# sshd_print DEPTH PATTERN...: what follows a Match in a file is for some people or addresses.
sshd_print() (
	set -f
	sshd_depth=$1
	shift
	sledc tree files "$disk_root" "$@" | sort | while IFS= read -r sshd_file; do
		echo "$sshd_file" >>"$sshd_config.files"
		[ "$(wc -l <"$sshd_config.files")" -le 64 ] || break
		sledc tree get "$disk_root" "$sshd_file" | tr -d '\r"' | tr '\t=' '  ' |
			awk '/^ *#/ { next } tolower($1) == "match" { exit } NF { $1 = tolower($1); print }' |
			while read -r sshd_word sshd_value; do
				if [ "$sshd_word" != include ]; then
					printf '%s %s\n' "$sshd_word" "$sshd_value"
				elif [ "$sshd_depth" -gt 1 ]; then
					# shellcheck disable=SC2086 # patterns
					sshd_value=$(printf '%s\n' $sshd_value | sed 's,^[^/],/etc/ssh/&,')
					# shellcheck disable=SC2086 # patterns
					sshd_print $((sshd_depth - 1)) $sshd_value
				fi
			done
	done
)

# sshd_first KEYWORD: prints its value; the first one counts.
sshd_first() { awk -v word="$1" '$1 == word { $1 = ""; sub(/^ /, ""); print; exit }' "$sshd_config"; }

# sshd_all KEYWORD: prints the values of all its lines, a word per line.
sshd_all() { awk -v word="$1" '$1 == word { for (i = 2; i <= NF; i++) print $i }' "$sshd_config"; }

# sshd_offers KIND ALGORITHM...: whether HostKeyAlgorithms permits a key of the kind. FIPS 140-3 knows no Ed25519 in the
# libraries of the distributions.
sshd_offers() (
	set -f
	[ "$1" != ed25519 ] || ! sshd_fips || exit 1
	shift
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

sshd_fips() {
	configure_has /etc/system-fips || configure_says '^FIPS' /etc/crypto-policies/config ||
		configure_argument fips=1
}

# sshd_kinds: prints the kinds of which the server takes a key, best first.
sshd_kinds() {
	! sshd_offers ed25519 ssh-ed25519 || echo ed25519
	! sshd_offers ecdsa ecdsa-sha2-nistp256 || echo ecdsa
	! sshd_offers rsa rsa-sha2-512 rsa-sha2-256 ssh-rsa || echo rsa
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

# sshd_refuses USER: prints why the server does not let the user in with a key; nothing if it does. What a Match adds is
# seen by the installed system alone.
sshd_refuses() (
	set -f
	[ "$(sshd_first pubkeyauthentication)" != no ] || { echo 'PubkeyAuthentication no'; exit; }
	if [ "$1" = root ]; then
		case $(sshd_first permitrootlogin) in
		no | forced-commands-only) echo "PermitRootLogin $(sshd_first permitrootlogin)"; exit ;;
		esac
	fi
	for sshd_pattern in $(sshd_all denyusers); do
		# shellcheck disable=SC2254 # a pattern
		case $1 in $sshd_pattern) echo "DenyUsers $sshd_pattern"; exit ;; esac
	done
	sshd_allowed=$(sshd_all allowusers | tr '\n' ' ')
	for sshd_pattern in $sshd_allowed; do
		# shellcheck disable=SC2254 # a pattern
		case $1 in ${sshd_pattern%%@*}) exit ;; esac
	done
	[ -z "$sshd_allowed" ] || echo "AllowUsers $sshd_allowed"
)
