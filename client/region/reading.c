/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/reading.h"

#include <stdlib.h>

int reading_take(struct reading *reading)
{
	if (!reading->is_taken)
		reading->error = meter_read(reading->meter, &reading->samples, &reading->n_samples);
	reading->is_taken = true;
	return reading->error;
}

int reading_renew(struct reading *reading)
{
	free(reading->samples);
	*reading = (struct reading){ .meter = reading->meter };
	return reading_take(reading);
}

void reading_done(struct reading *reading)
{
	free(reading->samples);
}
