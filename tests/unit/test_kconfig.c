// SPDX-License-Identifier: GPL-2.0-or-later
// Configs: parsing, comparing, and the reason why an option did not survive.
#include "harness/kernel/kconfig.h"
#include "harness/kernel/ksymbol.h"
#include "tests/unit/kernel_fixture.h"

static struct kconfig parse(const char *text)
{
	ERR_CLEANUP struct err err = {};
	struct kconfig c = {};

	ok(kconfig_parse(text, "test", &c, &err) == 0, "parses what begins with %.*s",
	   (int)strcspn(text, "\n"), text);
	return c;
}

static void test_parse(void)
{
	autokconfig c = parse("# a comment\n\nCONFIG_B=m\nCONFIG_A=y\n# CONFIG_C is not set\n"
			      "CONFIG_S=\"two words = 2\"\nCONFIG_A=n\r\n# CONFIG_IS a remark\n");
	ERR_CLEANUP struct err err = {};
	struct kconfig bad = {};

	is_int(c.n, 4, "four options");
	is_str(kconfig_value(&c, "A"), "n", "of two lines the last counts");
	is_str(kconfig_value(&c, "B"), "m", "a module");
	is_str(kconfig_value(&c, "C"), "n", "not set is n");
	is_str(kconfig_value(&c, "ABSENT"), "n", "so is absent");
	is_str(kconfig_value(&c, "S"), "\"two words = 2\"", "a string with its quotes");
	is_int(kconfig_parse("CONFIG_A=y\nB=y\n", "f.config", &bad, &err), -ERR_USAGE,
	       "a line of rubbish");
	is_str(err.message, "f.config:2: neither CONFIG_NAME=value nor a comment",
	       "and where it is");
	is_int(kconfig_parse("CONFIG_=y", "f", &bad, &err), -ERR_USAGE, "an empty name");
}

static void test_diff_and_hash(void)
{
	autokconfig a = parse("CONFIG_A=y\nCONFIG_B=m\n# CONFIG_C is not set\nCONFIG_D=1\n");
	autokconfig b = parse("CONFIG_D=2\nCONFIG_B=m\nCONFIG_E=y\n");
	autokconfig c = parse("# other comment\nCONFIG_D=1\nCONFIG_B=m\nCONFIG_A=y\n");
	char hash_a[HASH_HEX], hash_b[HASH_HEX], hash_c[HASH_HEX];
	autobuf diff = {}, none = {};

	kconfig_diff(&a, &b, &diff);
	is_str(buf_str(&diff), "-CONFIG_A=y\n-CONFIG_D=1\n+CONFIG_D=2\n+CONFIG_E=y\n",
	       "differences in order");
	kconfig_diff(&a, &c, &none);
	is_str(buf_str(&none), "", "order, comments and unset options are no difference");
	kconfig_hash(&a, hash_a);
	kconfig_hash(&b, hash_b);
	kconfig_hash(&c, hash_c);
	is_str(hash_a, hash_c, "nor for the hash");
	ok(!streq(hash_a, hash_b), "other values have another hash");
}

static void make_tree(void)
{
	sh_do("mkdir -p tree/arch/x86 tree/arch/arm tree/net; cd tree\n"
	      "cat > Kconfig <<'X'\n"
	      "source \"net/Kconfig\"\n"
	      "config PICKER\n\tbool\n\tselect PICKED if NET\n"
	      "config PICKED\n\tbool\n"
	      "X\n"
	      "cat > net/Kconfig <<'X'\n"
	      "menuconfig NET\n\tbool \"Networking\"\n\thelp\n\t  This text says\n\n\t  config "
	      "TRAP\n"
	      "\t  depends on NOTHING\n"
	      "if NET\n"
	      "config INET\n\tbool \"IP\"\n\tdepends on A && \\\n\t\tB\n\tdepends on C || D\n"
	      "endif\n"
	      "config OUTSIDE\n\tbool \"x\"\n"
	      "X\n"
	      "printf 'config X86_ONLY\\n\\tbool\\n' > arch/x86/Kconfig\n"
	      "printf 'config ARM_ONLY\\n\\tbool\\n' > arch/arm/Kconfig.debug\n");
}

static void test_symbols(void)
{
	autofree char *tree = in_top("tree");
	autoksymbols struct ksymbols *t = NULL;
	ERR_CLEANUP struct err err = {};
	struct ksymbol s = {};

	ok(ksymbols_read(tree, "x86", &t, &err) == 0, "the tree's Kconfig files are read");
	ok(ksymbols_find(t, "INET", &s), "INET exists");
	is_str(buf_str(&s.depends), "NET && A && B && (C || D)",
	       "with the if around it and each depends");
	ksymbol_release(&s);
	ok(ksymbols_find(t, "OUTSIDE", &s) && !s.depends.len, "behind endif there is no condition");
	ok(!ksymbols_find(t, "TRAP", &s), "a line of a help text defines nothing");
	ok(ksymbols_find(t, "X86_ONLY", &s), "a symbol of this architecture");
	ok(!ksymbols_find(t, "ARM_ONLY", &s), "none of another");
	ok(!ksymbols_find(t, "INE", &s), "half a name is no name");
	ok(ksymbols_find(t, "PICKED", &s), "PICKED exists");
	is_str(buf_str(&s.selected_by), "PICKER", "and what selects it is known");
	ksymbol_release(&s);
}

static void test_check(void)
{
	autokconfig effective = parse("CONFIG_NET=y\nCONFIG_PICKED=y\n");
	autokconfig fine = parse("CONFIG_NET=y\n# CONFIG_INET is not set\nCONFIG_GONE=y\n# "
				 "CONFIG_NEVER is not set\n");
	autokconfig lost = parse("CONFIG_INET=y\n# CONFIG_PICKED is not set\n");
	autofree char *tree = in_top("tree");
	ERR_CLEANUP struct err err = {};
	autobuf notes = {};

	ok(kconfig_check(&fine, &effective, tree, "x86", &notes, &err) == 0,
	   "what survived is fine");
	is_str(buf_str(&notes), "CONFIG_GONE does not exist at this commit\n",
	       "an unknown option is a note");
	is_int(kconfig_check(&lost, &effective, tree, "x86", &notes, &err), -ERR_UNTESTABLE,
	       "a lost one is not");
	is_str(err.phase, "config", "it is the config's fault");
	like(err.message, "CONFIG_INET=y became n (it depends on NET && A && B && (C || D))",
	     "with its reason");
	like(err.message, "CONFIG_PICKED=n became y (it is selected by PICKER)",
	     "or who selects it");
}

int main(void)
{
	fixture_begin();
	make_tree();
	test_parse();
	test_diff_and_hash();
	test_symbols();
	test_check();
	return fixture_end();
}
