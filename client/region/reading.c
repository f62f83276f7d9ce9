/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/reading.h"

int reading_take(struct reading *reading)
{
	if (!reading->is_taken)
		reading->error = meter_read(reading->meter, &reading->readout);
	reading->is_taken = true;
	return reading->error;
}

int reading_renew(struct reading *reading)
{
	readout_done(&reading->readout);
	*reading = (struct reading){ .meter = reading->meter };
	return reading_take(reading);
}

void reading_done(struct reading *reading)
{
	readout_done(&reading->readout);
}
