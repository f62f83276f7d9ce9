/* SPDX-License-Identifier: BSD-3-Clause */
/* What LIKWID takes this processor for, and whether it knows RAPL there. */
#include <likwid.h>
#include <stdio.h>

int main(void)
{
	init_configuration();
	HPMmode(ACCESSMODE_DIRECT);
	topology_init();
	power_init(
		0); /* fails where there are no model-specific registers, but knows RAPL before */
	printf("%s, hasRAPL %d\n", get_cpuInfo()->name, get_powerInfo()->hasRAPL);
	return 0;
}
