// SPDX-License-Identifier: Apache-2.0
#include "boot/grub_commands.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define SAME_DEVICE "own" // value of "root" until the script sets it

bool run_set_defaults(struct variables *variables) {
	static const char *const defaults[][2] = {
		{"root", SAME_DEVICE},
		{"prefix", OWN_FOLDER},
		{"config_directory", OWN_FOLDER},
		{"config_file", OWN_FOLDER "/grub.cfg"},
		{"grub_platform", UNKNOWN},
		{"grub_cpu", UNKNOWN},
		{"cmdpath", UNKNOWN},
		{"lockdown", UNKNOWN},
		{"shim_lock", UNKNOWN},
		{"?", UNKNOWN},
		{"feature_200_final", "y"},
		{"feature_all_video_module", "y"},
		{"feature_chainloader_bpb", "y"},
		{"feature_default_font_path", "y"},
		{"feature_menuentry_id", "y"},
		{"feature_menuentry_options", "y"},
		{"feature_nativedisk_cmd", "y"},
		{"feature_ntldr", "y"},
		{"feature_platform_search_hint", "y"},
		{"feature_timeout_style", "y"},
	};

	for (size_t i = 0; i < ELEMENTS(defaults); i++) {
		const char *name = defaults[i][0];
		if (!*variables_get(variables, name, strlen(name)) &&
		    !variables_set(variables, name, strlen(name), defaults[i][1]))
			return false;
		variables_export(variables, name);
	}
	return true;
}

static int assign(struct run *run, const char *name, size_t size, const char *value, enum mode mode) {
	if (mode == MODE_UNSURE && strcmp(variables_get(run->variables, name, size), value))
		value = UNKNOWN;
	return variables_set(run->variables, name, size, value) ? 0 : run_refuse(run, "it sets too many variables");
}

static int assign_word(struct run *run, const char *word, enum mode mode) {
	const char *equals = strchr(word, '=');
	return equals ? assign(run, word, (size_t)(equals - word), equals + 1, mode) : 0;
}

static int do_set(struct run *run, const struct grub_words *words, enum mode mode) {
	return words->count > 1 ? assign_word(run, words->items[1], mode) : 0;
}

static int do_unset(struct run *run, const struct grub_words *words, enum mode mode) {
	int r = 0;

	for (size_t i = 1; i < words->count && r == 0; i++)
		r = assign(run, words->items[i], strlen(words->items[i]), "", mode);
	return r;
}

static int do_export(struct run *run, const struct grub_words *words, enum mode mode) {
	(void)mode;
	for (size_t i = 1; i < words->count; i++)
		variables_export(run->variables, words->items[i]);
	return 0;
}

// A command that may set the variable of its option --set, and whose result is unknown. `otherwise`: the variable
// without that option.
static int forget_result(struct run *run, const struct grub_words *words, const char *otherwise) {
	const char *name = otherwise;

	for (size_t i = 1; i < words->count; i++) {
		const char *word = words->items[i], *colon;
		if (!strncmp(word, "--set=", 6))
			name = word + 6;
		else if ((!strcmp(word, "--set") || !strcmp(word, "-s")) && i + 1 < words->count)
			name = words->items[++i];
		else
			continue;
		colon = strchr(name, ':');
		name = colon ? colon + 1 : name;
	}
	return name ? assign(run, name, strlen(name), UNKNOWN, MODE_RUN) : 0;
}

// "search --fs-uuid --set=root UUID" is known as far as it goes.
static int do_search(struct run *run, const struct grub_words *words, enum mode mode) {
	cleanup_with(text_free) struct text value = {0};
	const char *name = NULL;
	bool uuid = false;
	int r = forget_result(run, words, "root");

	for (size_t i = 1; i + 1 < words->count; i++) {
		uuid |= !strcmp(words->items[i], "--fs-uuid") || !strcmp(words->items[i], "-u");
		if (!strncmp(words->items[i], "--set=", 6))
			name = words->items[i] + 6;
	}
	if (r < 0 || !uuid || !name)
		return r;
	text_addf(&value, "UUID=%s", words->items[words->count - 1]);
	return assign(run, name, strlen(name), text_string(&value), mode);
}

static int do_hwmatch(struct run *run, const struct grub_words *words, enum mode mode) {
	(void)mode;
	return forget_result(run, words, "match");
}

static int do_count(struct run *run, const struct grub_words *words, enum mode mode) {
	(void)mode;
	return words->count > 1 ? assign(run, words->items[1], strlen(words->items[1]), UNKNOWN, MODE_RUN) : 0;
}

struct loading {
	struct run *run;
	enum mode mode;
};

static int load_one(void *context, const char *name, size_t size, const char *value) {
	struct loading *loading = context;
	return assign(loading->run, name, size, value, loading->mode);
}

int run_load(struct run *run, const char *block, enum mode mode) {
	return variables_read(block, load_one, &(struct loading){run, mode});
}

// load_env [-f FILE]: a list of variables is a limit that no generator writes.
static int do_load_env(struct run *run, const struct grub_words *words, enum mode mode) {
	const char *path = OWN_FOLDER "/grubenv", *name;
	cleanup_free char *block = NULL;

	for (size_t i = 1; i < words->count; i++) {
		if ((!strcmp(words->items[i], "-f") || !strcmp(words->items[i], "--file")) && i + 1 < words->count)
			path = words->items[++i];
		else if (!strncmp(words->items[i], "--file=", 7))
			path = words->items[i] + 7;
		else if (strcmp(words->items[i], "--skip-sig"))
			return run_refuse(run, "load_env of single variables is not known here");
	}
	if (!(name = run_own_file(path)))
		return run_refuse(run, "its variables are in \"%s\", which is not read here", path);
	block = run->source->read(run->source->context, name);
	return block ? run_load(run, block, mode) : 0;
}

static int do_source(struct run *run, const struct grub_words *words, enum mode mode) {
	const char *path = words->count > 1 ? words->items[words->count - 1] : "", *name = run_own_file(path);
	size_t size = strlen(path), end = strlen("/grub.cfg");
	cleanup_free char *script = NULL;

	if (!name && mode == MODE_RUN && size > end && !strcmp(path + size - end, "/grub.cfg")) {
		run->hands_over = true;
		return 0;
	}
	if (!name)
		return run_refuse(run, "it continues in \"%s\", which is not read here", path);
	script = run->source->read(run->source->context, name);
	return script ? run_script(run, script, mode) : 0;
}

static int do_configfile(struct run *run, const struct grub_words *words, enum mode mode) {
	if (mode != MODE_RUN)
		return run_refuse(run, "whether it starts another menu depends on \"%s\"", run->doubt);
	(void)words;
	run->hands_over = true;
	return 0;
}

static int do_blscfg(struct run *run, const struct grub_words *words, enum mode mode) {
	size_t before = run->entries->count;
	int r;

	if (words->count > 1)
		return run_refuse(run, "blscfg of some entries is not known here");
	if (*variables_get(run->variables, "blsdir", 6))
		return run_refuse(run, "blscfg of another folder (blsdir) is not known here");
	run->has_bls = true;
	r = run->source->add_entries(run->source->context, run->entries);
	for (size_t i = before; i < run->entries->count; i++) {
		run->entries->items[i].parent = run->menu;
		run->entries->items[i].unsure = mode == MODE_UNSURE;
	}
	return r == -E2BIG ? run_refuse(run, "it has more than %u entries", ENTRIES_MAX) : r;
}

static const struct {
	const char *name;
	int (*run)(struct run *run, const struct grub_words *words, enum mode mode);
} commands[] = {
	{"set", do_set},	   {"unset", do_unset},	     {"export", do_export},
	{"load_env", do_load_env}, {"search", do_search},    {"search.fs_uuid", do_search},
	{"hwmatch", do_hwmatch},   {"increment", do_count},  {"decrement", do_count},
	{"source", do_source},	   {".", do_source},	     {"configfile", do_configfile},
	{"normal", do_configfile}, {"blscfg", do_blscfg},    {"linux", run_linux},
	{"linuxefi", run_linux},   {"linux16", run_linux},   {"initrd", run_initrd},
	{"initrdefi", run_initrd}, {"initrd16", run_initrd},
};

// They change neither which entry starts nor its words, beyond a variable that --set names.
static const char *const harmless[] = {
	"background_color",
	"background_image",
	"clear",
	"cryptomount",
	"echo",
	"fwsetup",
	"gettext",
	"insmod",
	"keymap",
	"keystatus",
	"loadfont",
	"ls",
	"modprobe",
	"parttool",
	"password",
	"password_pbkdf2",
	"play",
	"probe",
	"regexp",
	"rmmod",
	"save_env",
	"serial",
	"sleep",
	"smbios",
	"terminal_input",
	"terminal_output",
	"terminfo",
	"videoinfo",
	"authenticate",
	"cpuid",
	"font",
	"true",
	"false",
	"tpm",
	"videotest",
	// Functions of grub-mkconfig, where a menu was shortened by hand: GRUB reports them and continues.
	"load_video",
	"recordfail",
	"savedefault",
	"gfxmode",
	"initrdfail",
};

// Runs a function with its words as $1, $2, ...
static int call(struct run *run, const struct function *function, const struct grub_words *words, enum mode mode) {
	int r = 0;

	for (size_t i = 1; i < 10 && r == 0; i++) {
		char name[2] = {(char)('0' + i), 0};
		r = assign(run, name, 1, i < words->count ? words->items[i] : "", MODE_RUN);
	}
	return r == 0 ? run_script(run, function->body, mode) : r;
}

static bool is_assignment(const char *word) {
	const char *at = word;

	while (isalnum((unsigned char)*at) || *at == '_')
		at++;
	return at > word && *at == '=';
}

int run_command(struct run *run, const struct grub_words *words, enum mode mode) {
	const char *head = words->items[0];

	for (size_t i = 0; i < run->function_count; i++)
		if (!strcmp(head, run->functions[i].name))
			return call(run, &run->functions[i], words, mode);
	for (size_t i = 0; i < ELEMENTS(commands); i++)
		if (!strcmp(head, commands[i].name))
			return commands[i].run(run, words, mode);
	for (size_t i = 0; i < ELEMENTS(harmless); i++)
		if (!strcmp(head, harmless[i]))
			return forget_result(run, words, NULL);
	if (words->count == 1 && is_assignment(head))
		return assign_word(run, head, mode);
	if (!strcmp(head, "[") || !strcmp(head, "test"))
		return 0;
	return run_refuse(run, "the command \"%s\" is not known here", head);
}
