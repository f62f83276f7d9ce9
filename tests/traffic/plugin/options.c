/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/traffic/plugin/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"

enum { SOCKETS_MAX = TRAFFIC_NODES, CPUS_MAX = 256, WAYS_MAX = 32 };

static const uint64_t SIZE_MAX_BYTES = UINT64_C(1) << 46;

/* --- values --- */

struct key;
typedef bool parse_fn(const struct key *key, const char *text, struct options *options);

struct key {
	const char *name;
	parse_fn *parse;
	size_t offset; /* of the member */
	uint64_t min, max;
	const char *what; /* completes "which must be" */
};

static void *member(const struct key *key, struct options *options)
{
	return (char *)options + key->offset;
}

/* A number, with K, M or G behind it. Returns what follows, or NULL. */
static const char *read_number(const char *text, uint64_t *ret)
{
	static const char units[] = "KMG";
	unsigned long long n;
	const char *unit;
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	n = strtoull(text, &end, 0);
	unit = *end ? strchr(units, *end) : NULL;
	if (errno || n > SIZE_MAX_BYTES)
		return NULL;
	if (unit)
		n <<= 10 * (unit - units + 1);
	*ret = n;
	return unit ? end + 1 : end;
}

static bool in_range(const struct key *key, uint64_t n)
{
	return n >= key->min && n <= key->max;
}

static bool parse_number(const struct key *key, const char *text, struct options *options)
{
	const char *end = read_number(text, member(key, options));

	return end && !*end && in_range(key, *(uint64_t *)member(key, options));
}

static bool parse_text(const struct key *key, const char *text, struct options *options)
{
	*(const char **)member(key, options) = text;
	return *text;
}

/* BYTES[:WAYS] */
static bool parse_cache(const struct key *key, const char *text, struct options *options)
{
	struct cache_shape *shape = member(key, options);
	const char *end = read_number(text, &shape->bytes);
	uint64_t ways = shape->n_ways;

	if (end && *end == ':')
		end = read_number(end + 1, &ways);
	shape->n_ways = (unsigned)ways;
	return end && !*end && in_range(key, shape->bytes) && ways >= 1 && ways <= WAYS_MAX;
}

/* BYTES[+BYTES...] */
static bool parse_nodes(const struct key *key, const char *text, struct options *options)
{
	uint64_t *sizes = member(key, options);

	for (options->n_nodes = 0; options->n_nodes < TRAFFIC_NODES; text++) {
		text = read_number(text, &sizes[options->n_nodes]);
		if (!text || !in_range(key, sizes[options->n_nodes++]))
			return false;
		if (*text != '+')
			return !*text;
	}
	return false;
}

/* --- keys --- */

#define AT(name) offsetof(struct options, name)
#define CACHE    "BYTES or BYTES:WAYS, at least 1K and with at most 32 ways"
#define FLAG     "0 or 1"

static const struct key keys[] = {
	{ "counters", parse_text, AT(counters), 0, 0, "the path of a file" },
	{ "l1", parse_cache, AT(l1), 1024, SIZE_MAX_BYTES, CACHE },
	{ "ll", parse_cache, AT(ll), 1024, SIZE_MAX_BYTES, CACHE },
	{ "sockets", parse_number, AT(n_sockets), 1, SOCKETS_MAX, "a number from 1 to 8" },
	{ "cpus", parse_number, AT(cpus_per_socket), 1, CPUS_MAX, "a number from 1 to 256" },
	{ "channels", parse_number, AT(n_channels), 1, TRAFFIC_CHANNELS, "a number from 1 to 16" },
	{ "sectors", parse_number, AT(n_sectors), 1, CACHE_SECTORS_MAX, "1 or 2" },
	{ "nodes", parse_nodes, AT(node_bytes), 1, SIZE_MAX_BYTES,
		"up to 8 sizes with a + between them" },
	{ "joined", parse_number, AT(joined), 0, 1, FLAG },
	{ "speci2m", parse_number, AT(speci2m_percent), 0, 100, "a percentage" },
	{ "adjacent", parse_number, AT(adjacent), 0, 1, FLAG },
	{ "user", parse_number, AT(user_only), 0, 1, FLAG },
	{ "wait", parse_number, AT(wait), 0, 1, FLAG },
};

static const struct key *find_key(const char *argument, const char **ret_value)
{
	size_t length = strcspn(argument, "=");

	*ret_value = argument + length + (argument[length] == '=');
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strlen(keys[i].name) == length && !strncmp(keys[i].name, argument, length))
			return &keys[i];
	return NULL;
}

static int refuse_unknown(const char *argument)
{
	fprintf(stderr, "memory-controller: there is no option '%s'. There are:", argument);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		fprintf(stderr, " %s", keys[i].name);
	fprintf(stderr, ".\n");
	return -EINVAL;
}

/* --- what goes with what --- */

static int refuse(const char *why)
{
	fprintf(stderr, "memory-controller: %s\n", why);
	return -EINVAL;
}

static int refuse_shape(const char *level, const struct cache_shape *shape)
{
	fprintf(stderr,
		"memory-controller: %s=%" PRIu64 ":%u has no power of two of sets: BYTES must be "
		"%u x WAYS times a power of two.\n",
		level, shape->bytes, shape->n_ways, TRAFFIC_LINE_BYTES * shape->n_sectors);
	return -EINVAL;
}

static int check(const struct options *options, bool is_system)
{
	if (!cache_shape_is_right(&options->l1))
		return refuse_shape("l1", &options->l1);
	if (!cache_shape_is_right(&options->ll))
		return refuse_shape("ll", &options->ll);
	if (!options->counters)
		return refuse("the option counters=FILE is missing: it names the file that shows "
			      "the counts.");
	if (!is_system && options->n_nodes)
		return refuse("nodes= are ranges of physical addresses, which a program under "
			      "qemu-user does not have: leave it away.");
	if (!is_system && options->wait)
		return refuse("wait=1 makes a guest boot at full speed; a program under qemu-user "
			      "has no boot: leave it away.");
	if (is_system && options->n_sockets > 1 && options->n_nodes < options->n_sockets)
		return refuse("with sockets=N the memory of each must be known: say "
			      "nodes=BYTES+BYTES..., at least one for each socket.");
	return 0;
}

int options_parse(int argc, char *argv[], bool is_system, struct options *ret)
{
	*ret = (struct options){
		.l1 = { .bytes = 32 << 10, .n_ways = 8 },
		.ll = { .bytes = 1 << 20, .n_ways = 16 },
		.n_sockets = 1,
		.cpus_per_socket = 1,
		.n_channels = 4,
		.n_sectors = 1,
	};
	for (int i = 0; i < argc; i++) {
		const char *value;
		const struct key *key = find_key(argv[i], &value);

		if (!key)
			return refuse_unknown(argv[i]);
		if (!key->parse(key, value, ret)) {
			fprintf(stderr,
				"memory-controller: '%s' does not give %s, which must be %s.\n",
				argv[i], key->name, key->what);
			return -EINVAL;
		}
	}
	ret->l1.n_sectors = ret->ll.n_sectors = (unsigned)ret->n_sectors;
	return check(ret, is_system);
}
