/* SPDX-License-Identifier: BSD-3-Clause */
/* A daemon with few descriptors, all of which one user wants. */
#include "tests/hostile/attack.h"

#include <unistd.h>

#include "common/wire.h"

enum { DESCRIPTORS = 128 };

/* Takes every connection it gets, asks for more, leaves some, and begins again. */
static _Noreturn int take_all_descriptors(void *argument)
{
	int held[DESCRIPTORS];

	for (bool first = true;; first = false) {
		unsigned n = 0;

		for (unsigned i = 0; i < DESCRIPTORS; i++) {
			struct wire_packet packet;
			int fd = attack_connect();

			attack_did(1);
			if (i % 2) {
				held[n++] = fd; /* says nothing */
			} else if (attack_hello(fd, &packet)) {
				wire_packet_done(&packet);
				held[n++] = fd;
			}
		}
		if (first)
			attack_is_on();
		usleep(100000);
		while (n)
			close(held[--n]);
	}
}

CASE("one user wants all descriptors")
{
	attack_beside_victim(&(struct attack){
		.name = "all of 128 descriptors wanted by one user",
		.body = take_all_descriptors,
		.n_processes = 4,
		.deeds = 4 * DESCRIPTORS,
		.busy_percent = 50,
	});
}

int main(void)
{
	the_daemon.descriptor_limit = DESCRIPTORS;
	return attack_run();
}
