// SPDX-License-Identifier: GPL-2.0-or-later
// What starts.
#include <bug.h>
#include <sum.h>

const char linux_banner[] =
	"Linux version " UTS_RELEASE " (" LINUX_COMPILE ") (" __VERSION__ ") " UTS_VERSION "\n";

void start_kernel(void)
{
	static const int values[] = { 1, 2, 3 };

	if (sum(values, 3) != 6)
		BUG();
}
