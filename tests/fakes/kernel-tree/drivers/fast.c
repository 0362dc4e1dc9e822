// SPDX-License-Identifier: GPL-2.0-or-later
// A module.
int printk(const char *text, ...);
int puts(const char *text);

int init_module(void)
{
	return printk("fast path\n");
}
