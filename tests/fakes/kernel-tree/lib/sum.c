// SPDX-License-Identifier: GPL-2.0-or-later
// Adds numbers.
#include <sum.h>

int sum(const int *values, int n)
{
	int total = 0;

	for (int i = 0; i < n; i++)
		total += values[i];
	return total;
}
