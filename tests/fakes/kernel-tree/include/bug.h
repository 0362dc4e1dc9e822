// SPDX-License-Identifier: GPL-2.0-or-later
// The bug table of x86: address and file relative, line, flags.
#define BUG()                                                        \
	asm volatile("1: ud2\n"                                      \
		     ".pushsection __bug_table, \"aw\"\n"             \
		     "2: .long 1b - .\n"                             \
		     ".long %c0 - .\n"                               \
		     ".word %c1, 0\n"                                \
		     ".org 2b + 12\n"                                \
		     ".popsection"                                   \
		     : : "i"(__FILE__), "i"(__LINE__))
