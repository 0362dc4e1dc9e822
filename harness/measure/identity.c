// SPDX-License-Identifier: GPL-2.0-or-later
// Identity and environment of a boot, checked before anything is measured.

#include "harness/measure/identity.h"

#include "harness/base/log.h"

/* is this line ("ext4 0123...") one of the lines of text? */
static bool has_line(const char *text, const char *line, size_t len)
{
	for (const char *at = text; *at;) {
		size_t n = strcspn(at, "\n");

		if (n == len && memcmp(at, line, len) == 0)
			return true;
		at += n + (at[n] == '\n');
	}
	return false;
}

/* every image that runs must be one that was built; not every module that was built must be loaded
 */
static int check_build_ids(const char *built, const char *running, struct err *err)
{
	bool vmlinux = false;

	for (const char *at = running; *at;) {
		size_t n = strcspn(at, "\n");

		if (n && !has_line(built, at, n))
			return err_set(err, ERR_INFRA,
				       "another kernel runs than was built: '%.*s' is not of it",
				       (int)n, at);
		vmlinux = vmlinux || (n > 8 && memcmp(at, "vmlinux ", 8) == 0);
		at += n + (at[n] == '\n');
	}
	if (!vmlinux) {
		err_set(err, ERR_INFRA,
			"the kernel shows no build-id, so nothing proves which one runs");
		err_hint(err, "CONFIG_SYSFS and /sys/kernel/notes are needed");
		return -ERR_INFRA;
	}
	return 0;
}

static int check_cmdline(const char *asked, const char *running, struct err *err)
{
	if (!asked || !*asked || (running && strstr(running, asked)))
		return 0;
	return err_set(err, ERR_INFRA, "the kernel was started with '%s', not with '%s'",
		       running ? running : "", asked);
}

/* the fields in which two flat objects differ: "governor: 'powersave' -> 'performance'" */
static void list_differences(const struct json *then, const struct json *now, struct buf *out)
{
	for (size_t i = 0; i < json_len(then); i++) {
		const char *key = json_key(then, i), *a = json_str(json_get(then, key));
		const char *b = json_str(json_get(now, key));

		if (!streq(a, b))
			buf_printf(out, "%s%s: '%s' -> '%s'", out->len ? ", " : "", key, a ? a : "",
				   b ? b : "");
	}
}

/*
 * What belongs to the machine must stay as it was in the session's first boot. What the kernel
 * under test says of itself (keys below "kernel.") may differ from commit to commit.
 */
static int check_machine(struct lab *lab, const struct json *machine, struct err *err)
{
	autobuf text = {}, differences = {};
	autojson struct json *first = NULL;

	json_print(machine, false, &text);
	if (!lab->first_fingerprint) {
		lab->first_fingerprint = buf_take(&text);
		return 0;
	}
	if (streq(lab->first_fingerprint, buf_str(&text)))
		return 0;
	if (json_parse(lab->first_fingerprint, strlen(lab->first_fingerprint), &first, err) < 0)
		return -err->code;
	list_differences(first, machine, &differences);
	if (!differences.len)
		list_differences(machine, first, &differences);
	err_set(err, ERR_INFRA, "the machine is not as it was in the first boot: %s",
		buf_str(&differences));
	err_hint(err, "put it back, then 'culprit continue %lld'", (long long)lab->session);
	return -ERR_INFRA;
}

static struct json *machine_part(const struct lab *lab, const struct agent_hello *hello)
{
	struct json *facts = json_object_new();

	if (lab->runner->describe)
		lab->runner->describe(lab->job, facts);
	for (size_t i = 0; i < json_len(hello->environment); i++) {
		const char *key = json_key(hello->environment, i);

		if (!str_starts(key, "kernel."))
			json_set_str(facts, key, json_str(json_get(hello->environment, key)));
	}
	return facts;
}

static void add_kernel_part(struct json *facts, const struct agent_hello *hello)
{
	for (size_t i = 0; i < json_len(hello->environment); i++) {
		const char *key = json_key(hello->environment, i);

		if (str_starts(key, "kernel."))
			json_set_str(facts, key, json_str(json_get(hello->environment, key)));
	}
	json_set_str(facts, "kernel.release", hello->release);
	json_set_str(facts, "kernel.cmdline", hello->cmdline);
}

/* What an image is, its first boot says: after the setup, which may load modules. */
static int check_or_learn(struct lab *lab, struct subject *subject, const struct agent_hello *hello,
			  bool all_loaded, struct err *err)
{
	if (subject->identity)
		return check_build_ids(subject->identity, hello->notes, err);
	if (!all_loaded || !hello->notes || !*hello->notes)
		return 0;
	return subject_record_identity(lab, subject, hello->notes, err);
}

int boot_identify_modules(struct lab *lab, struct subject *subject, struct boot *boot,
			  struct err *err)
{
	int r;

	if (!subject->image)
		return 0;
	r = boot_refresh_hello(boot, err);
	if (r == 0)
		r = check_or_learn(lab, subject, boot_hello(boot), true, err);
	if (r < 0)
		err_phase(err, "identity");
	return r;
}

int boot_identify(struct lab *lab, struct subject *subject, const struct boot *boot,
		  int64_t *ret_fingerprint, struct err *err)
{
	const struct agent_hello *hello = boot_hello(boot);
	autojson struct json *facts = NULL;
	autobuf text = {};
	int r;

	err_phase(err, "identity");
	r = check_or_learn(lab, subject, hello, !subject->image || !lab->job->setup.argv, err);
	if (r == 0 && subject->image)
		r = check_cmdline(lab->job->kernel.cmdline, hello->cmdline, err);
	if (r == 0) {
		facts = machine_part(lab, hello);
		r = check_machine(lab, facts, err);
	}
	if (r < 0) {
		err_phase(err, "identity");
		return r;
	}
	err_release(err);
	add_kernel_part(facts, hello);
	json_print(facts, false, &text);
	return store_fingerprint_put(lab->store, buf_str(&text), ret_fingerprint, err);
}
