/* SPDX-License-Identifier: BSD-3-Clause */
/* A reading of all sockets that is taken when it turns out to be needed, and then once. */
#pragma once

#include "client/region/meter.h"

struct reading {
	struct meter *meter; /* borrowed */
	struct readout readout;
	bool is_taken;
	int error; /* of taking it */
};

/* 0; an error of meter_read(), with its sentence if this call took the reading. */
int reading_take(struct reading *reading);

/* Takes another one in its place. */
int reading_renew(struct reading *reading);

void reading_done(struct reading *reading);
