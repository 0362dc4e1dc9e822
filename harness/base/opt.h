// SPDX-License-Identifier: GPL-2.0-or-later
// Command line options from a table: parsing, --help and errors with the nearest option come from it.
#pragma once

#include "harness/base/buf.h"
#include "harness/base/err.h"
#include "harness/base/util.h"

enum opt_kind { OPT_FLAG, OPT_STRING, OPT_LIST, OPT_U64, OPT_DOUBLE, OPT_DURATION };

struct opt {
	const char *name;    /* without the dashes; NULL or "" ends a table */
	char letter;	     /* or 0 */
	enum opt_kind kind;
	void *value;	     /* bool, const char *, char ** (strv), uint64_t, double, int64_t (ns) */
	const char *arg;     /* name of the argument in --help, NULL for a flag */
	const char *help;
};

/*
 * Options and operands may be mixed; "--" ends options; --name=value and --name value both work.
 * Several tables are searched in order (a verb's, then the global ones; NULL ends the list).
 * Operands are moved to the front of argv; *ret_operands is their count. ERR_USAGE names the nearest
 * option.
 */
int opt_parse(const struct opt *const *tables, int argc, char **argv, int *ret_operands, struct err *err);
/* argv[0] is the program: the options before the first operand only; *ret_index is that operand's place
 * (argc if none). */
int opt_parse_leading(const struct opt *table, int argc, char **argv, int *ret_index, struct err *err);
void opt_print_help(const struct opt *table, struct buf *out);
