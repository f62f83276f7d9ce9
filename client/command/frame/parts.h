/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of sockets that have figures of their own: memory channels, or the NUMA nodes that they
 * belong to. */
#pragma once

#include <stdint.h>

#include "client/libuncore/uncore.h"

#define PART_NONE UINT32_MAX

struct json_value;

struct part {
	char name[UNCORE_NAME_MAX]; /* "imc0", "node1" */
	unsigned node;              /* the kernel's number of it */
	uint32_t socket;
	uint32_t metrics; /* bits of the metrics that its channels count; 0: none is known */
};

struct part_channel {
	uint32_t socket, metric, part; /* PART_NONE: of no part */
	const char *name;
};

struct parts {
	uint32_t n, n_channels;
	struct part *part;            /* owned */
	struct part_channel *channel; /* owned; as uncore_describe_channel() numbers them */
};

/* A part for each channel; its reads and writes are one. 0, -ENOMEM. */
int parts_of_channels(const struct uncore *handle, struct parts *ret);

/*
 * A part for each NUMA node with CPUs. A node's metric is known if each of the socket's channels is
 * known to be of one node: because the socket has one, or by `nodes` of the platform file, or else
 * by what `uncore validate --keep` saw while there were as many nodes. 0, -ENOMEM.
 */
int parts_of_nodes(const struct uncore *handle, const char *socket_path, struct parts *ret);

/* The same by what uncore_info() has said. */
int parts_of_nodes_in(
	const struct uncore *handle, const struct json_value *info, struct parts *ret);

/* uncored's number of the socket of @package; UINT32_MAX: it reads no such socket. */
uint32_t parts_socket(const struct uncore *handle, int package);

void parts_done(struct parts *parts);
