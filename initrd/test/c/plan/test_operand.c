// SPDX-License-Identifier: Apache-2.0
#include "base/operand.h"
#include "plan/plan.h"
#include "plan/values.h"
#include "tap.h"

static void refused(const char *line, const char *words) {
	struct operands o = {0};
	struct fault fault = {0};
	int r = operands_parse(line, strlen(line), &o, &fault);
	ok(r < 0 && fault.code == CODE_USAGE && strstr(fault.text, words), "refused: %.40s: %s", line, fault.text);
	operands_free(&o);
}

static void test_parse(void) {
	static const char line[] = "wipe disk=serial:a%2cb%2Cc empty= z=%c3%A9+~;*@";
	struct operands o = {0};
	struct fault fault;

	ok(operands_parse(line, strlen(line), &o, &fault) == 0, "a line is read");
	same(o.verb, "wipe", "verb");
	same(operands_get(&o, "disk"), "serial:a,b,c", "upper and lower hex");
	same(operands_get(&o, "empty"), "", "empty value");
	same(operands_get(&o, "z"), "\xc3\xa9+~;*@", "bytes above 0x7f");
	ok(!operands_get(&o, "none"), "absent key");
	operands_free(&o);
	refused("", "one space");
	refused("a ", "one space");
	refused("a  b=c", "one space");
	refused("Wipe a=b", "not a verb");
	refused("a b", "not key=value");
	refused("a =b", "not key=value");
	refused("a B=c", "not key=value");
	refused("a b=1 b=2", "twice");
	refused("a b=%", "hexadecimal");
	refused("a b=%4", "hexadecimal");
	refused("a b=%0g", "hexadecimal");
	refused("a b=%00", "%00");
	refused("a b=c=d", "0x3d");
	refused("a b=\t", "0x09");
	refused("a b=?", "%3F");
	refused("a0123456789012345678901234567890123 b=c", "not a verb");
}

static void test_limits(void) {
	char line[3 * VALUE_MAX + 64] = "a b=";
	struct operands o = {0};
	struct fault fault;

	memset(line + 4, 'x', VALUE_MAX);
	ok(operands_parse(line, strlen(line), &o, &fault) == 0, "a value of the longest length");
	operands_free(&o);
	line[4 + VALUE_MAX] = 'x';
	ok(operands_parse(line, strlen(line), &o, &fault) < 0, "one byte more");
	operands_free(&o);
	strcpy(line, "a");
	for (unsigned i = 0; i < OPERANDS_MAX + 1; i++)
		sprintf(line + strlen(line), " k%u=", i);
	ok(operands_parse(line, strlen(line), &o, &fault) < 0 && strstr(fault.text, "more than"), "too many operands");
	operands_free(&o);
}

static void test_round_trip(void) {
	char value[256], line[1024];
	struct operands o = {0};
	struct text text = {0};
	struct fault fault;

	for (unsigned i = 0; i < 255; i++)
		value[i] = (char)(i + 1);
	value[255] = 0;
	operand_write(&text, "v", value);
	snprintf(line, sizeof(line), "a%s", text_string(&text));
	ok(operands_parse(line, strlen(line), &o, &fault) == 0, "every byte but NUL can be written");
	same(operands_get(&o, "v"), value, "and is read back");
	operands_free(&o);
	text_free(&text);
}

static void checked(int (*check)(const char *, struct fault *), const char *value, bool right) {
	struct fault fault;
	ok((check(value, &fault) == 0) == right, "%s: \"%s\"", right ? "right" : "wrong", value);
}

static void test_values(void) {
	checked(check_keys, "ssh-ed25519 AAAA me", true);
	checked(check_keys, "a\nb", true);
	checked(check_keys, "", false);
	checked(check_keys, "a\n", false);
	checked(check_keys, "a\n\nb", false);
	checked(check_keys, "a\r\nb", false);
	checked(check_hostname, "", true);
	checked(check_hostname, "n1", true);
	checked(check_hostname, "n-1.example.org", true);
	checked(check_hostname, "-n1", false);
	checked(check_hostname, "n1-", false);
	checked(check_hostname, "n1.", false);
	checked(check_hostname, "n..1", false);
	checked(check_hostname, "n1;reboot", false);
	checked(check_hostname, "a23456789a123456789a123456789a123456789.b123456789b123456789b123", true);
	checked(check_hostname, "a23456789a123456789a123456789a123456789.b123456789b123456789b1234", false);
	checked(check_mac, "52:54:00:77:00:01", true);
	checked(check_mac, "52-54-00-77-00-01", false);
	checked(check_mac, "52:54:00:77:00:0A", false);
	checked(check_number, "9223372036854775807", true);
	checked(check_number, "9223372036854775808", false);
	checked(check_number, "18446744073709551617", false);
	checked(check_number, "+1", false);
	checked(check_positive, "0", false);
	checked(check_urls, "http://a/b,https://[::1]:8443/c", true);
	checked(check_urls, "ftp://a/b", false);
	checked(check_urls, "http://a/b,", false);
	checked(check_urls, "http://user@a/b", false);
	checked(check_urls, "http://a/b#c", false);
	checked(check_urls, "http://a:0/b", false);
	checked(check_urls, "http://a:70000/b", false);
	checked(check_urls, "http://a/b\r\nX: y", false);
	checked(check_urls, "file:///a", true);
	checked(check_urls, "file://a", false);
	checked(check_selector, "serial:", false);
	checked(check_selector, "serial:a,", false);
	checked(check_selector, "rotational:2", false);
	checked(check_selector, "size:-", false);
	checked(check_selector, "size:10-5", false);
	checked(check_selector, "size:5-", true);
	checked(check_selector, "serial:a%zz", false);
	checked(check_keep, "", false);
	checked(check_keep, "serial:a;", false);
}

int main(void) {
	test_parse();
	test_limits();
	test_round_trip();
	test_values();
	return tap_done();
}
