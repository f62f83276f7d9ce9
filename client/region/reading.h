/* SPDX-License-Identifier: BSD-3-Clause */
/* A reading of all sockets, taken once, when it is first needed. */
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

/* Takes a new reading instead. */
int reading_renew(struct reading *reading);

void reading_done(struct reading *reading);
