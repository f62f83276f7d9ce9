/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "client/command/validate/machine.h"
#include "common/wire.h"

static void print_processor(void *out, const char *key, const char *value)
{
	fprintf(out, "%s: %s\n", key, value);
}

static void print_machine(FILE *out, const struct session *session)
{
	const struct machine_memory memory = machine_memory();
	const unsigned n_nodes =
		session->places.n ? session->places.place[0].n_nodes_of_package : 0;

	machine_processor(print_processor, out);
	fprintf(out, "NUMA nodes of a package (SNC, NPS): %u\n", n_nodes);
	if (memory.n_dimms)
		fprintf(out, "DIMMs: %u, of %u memory controllers (EDAC)\n", memory.n_dimms,
			memory.n_controllers);
	else
		fprintf(out, "DIMMs: the kernel shows none (EDAC)\n");
}

int report_text(FILE *out, const struct session *session, const struct judged_node nodes[],
	unsigned n, const char *json)
{
	_cleanup_free_ char *text = NULL;
	char command[VALIDATE_COMMAND_MAX];
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return -ENOMEM;
	validate_options_text(&session->options, command);
	fprintf(memory,
		"What the counters of a machine show, for the tracker of uncored. It names no\n"
		"host and no user. Please send all of it as it is.\n\n$ %s\n",
		command);
	print_machine(memory, session);
	print_all(memory, session, nodes, n);
	fprintf(memory, "\n%s\n", json);
	if (fclose(memory) == EOF)
		return -ENOMEM;
	fprintf(out, "%sfnv1a %016" PRIx64 "\n", text, wire_hash(text, size));
	return 0;
}
