/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libuncore: per-socket memory traffic for unprivileged processes.
 *
 * uncored owns the memory controllers' counters; this library reads the values that it publishes.
 * They are cumulative, per socket (CPU package), one per metric of the platform: "dram.read",
 * "dram.write", "hbm.read", "itom", ... They count EVERYTHING that the socket did, not only the
 * caller.
 *
 *	struct uncore_sample before = UNCORE_SAMPLE_INIT, after = UNCORE_SAMPLE_INIT;
 *	struct uncore_delta d = UNCORE_DELTA_INIT;
 *	struct uncore *u;
 *	int metric;
 *
 *	if (uncore_open(NULL, &u) < 0)
 *		errx(1, "%s", uncore_error_text());
 *	metric = uncore_find_metric(u, "dram.read"); // -ENOENT: this platform has none
 *	if (metric < 0 || uncore_read(u, 0, UNCORE_FRESH, &before) < 0)
 *		errx(1, "%s", uncore_error_text());
 *	work();
 *	if (uncore_read(u, 0, UNCORE_FRESH, &after) < 0 || uncore_delta(&before, &after, &d) < 0)
 *		errx(1, "%s", uncore_error_text());
 *	if (d.values[metric].quality & UNCORE_ABSENT)
 *		printf("absent: %s\n", uncore_why(u, d.values[metric].why));
 *	else
 *		printf("%" PRIu64 " bytes\n", d.values[metric].count);
 *	uncore_close(u);
 *
 * Functions return 0, or a number where they say so, or a negative errno. uncore_error_text()
 * explains the last failure of the calling thread in a sentence. Outputs are untouched on failure.
 * Structures that the caller lays out begin with their size; initialise them with their _INIT
 * macro, or set .size and zero the rest. They may grow at their end in later releases: the library
 * fills as much as .size has room for, so a program goes on working with a newer library; members
 * that an older library does not know become 0. Elements of an array are as far apart as their
 * .size says, so all elements have the same .size. Structures without .size (struct uncore_value,
 * uncore_delta_value, uncore_channel_value) never change.
 *
 * A handle may be used by several threads at once; but while uncore_close() or uncore_set_timeout()
 * runs on it, no other thread may use it. After fork() the parent's handles are dead in the child:
 * every call on them returns -EINVAL (close them and open new ones). Regions need nothing: in a
 * child they connect afresh by themselves.
 *
 * The library installs no signal handler, and writes to no stream except for the report of regions.
 * It reads the environment by secure_getenv(3): UNCORE_SOCKET and, for regions, UNCORE_REPORT,
 * UNCORE_TRACE, UNCORE_LABEL, UNCORE_TEAM and what launchers and batch systems say.
 */
#ifndef UNCORE_H
#define UNCORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UNCORE_METRICS_MAX 16
#define UNCORE_NAME_MAX    32  /* bytes, with the final NUL */
#define UNCORE_TEXT_MAX    160 /* bytes, with the final NUL */
#define UNCORE_PASSING_MAX 4

/* Quality flags of a value; words for them: uncore_quality_words(). */
#define UNCORE_ESTIMATED    0x01u /* multiplexed: scaled by time enabled / time running */
#define UNCORE_PARTIAL      0x02u /* a counter box of the set could not be opened or read */
#define UNCORE_FROZEN       0x04u /* the counter's own clock stood still */
#define UNCORE_RESET        0x08u /* the hardware count went back; the lost amount is unknown */
#define UNCORE_UNCALIBRATED 0x10u /* sources disagree on what a count is worth, or is of */
#define UNCORE_STANDIN      0x20u /* not memory traffic: a stand-in for testing */
#define UNCORE_ABSENT       0x40000000u /* there is no value: uncore_why() says why */

/* How to read. */
#define UNCORE_CACHED 0 /* the last sweep, however old: no system call */
#define UNCORE_FRESH  1 /* a sweep that began after the call: waits for it */

struct uncore; /* a connection to uncored; opaque */

struct uncore_value {
	uint64_t count;   /* cumulative, in the metric's unit; meaningless if absent */
	uint32_t quality; /* flags of this sweep */
	uint32_t why;     /* for uncore_why() */
	uint64_t raised[UNCORE_PASSING_MAX]; /* sweep that last raised flag 1 << i; 0: never */
};

/* What one sweep of one socket found. Values are indexed by metric. */
struct uncore_sample {
	uint32_t size;   /* sizeof(struct uncore_sample) */
	uint32_t socket; /* 0 .. n_sockets - 1 */
	uint32_t n_values;
	uint32_t reserved;
	uint64_t generation[2]; /* samples of two generations cannot be subtracted */
	uint64_t sweep;         /* number of the sweep */
	uint64_t begin_ns;      /* CLOCK_MONOTONIC, when the sweep began to read counters */
	uint64_t end_ns;        /* ... and when it had read the last one */
	struct uncore_value values[UNCORE_METRICS_MAX];
};
#define UNCORE_SAMPLE_INIT                                                                         \
	{                                                                                          \
		sizeof(struct uncore_sample), 0, 0, 0, { 0, 0 }, 0, 0, 0,                          \
		{                                                                                  \
			{                                                                          \
				0, 0, 0,                                                           \
				{                                                                  \
					0                                                          \
				}                                                                  \
			}                                                                          \
		}                                                                                  \
	}

struct uncore_delta_value {
	uint64_t count;   /* in the metric's unit; meaningless if absent */
	uint32_t quality; /* every flag that was raised anywhere between the two sweeps */
	uint32_t why;     /* for uncore_why() */
};

/* The difference of two samples of one socket. */
struct uncore_delta {
	uint32_t size; /* sizeof(struct uncore_delta) */
	uint32_t socket;
	uint32_t n_values;
	uint32_t reserved;
	uint64_t window_ns; /* from the midpoint of one sweep to the midpoint of the other */
	uint64_t skew_ns;   /* half the sum of both sweeps' lengths: for steady traffic a count is
			       uncertain by skew_ns / window_ns of itself */
	struct uncore_delta_value values[UNCORE_METRICS_MAX];
};
#define UNCORE_DELTA_INIT                                                                          \
	{                                                                                          \
		sizeof(struct uncore_delta), 0, 0, 0, 0, 0,                                        \
		{                                                                                  \
			{                                                                          \
				0, 0, 0                                                            \
			}                                                                          \
		}                                                                                  \
	}

/* The machine. Strings belong to the handle and live until uncore_close(). */
struct uncore_machine {
	uint32_t size; /* sizeof(struct uncore_machine) */
	uint32_t n_sockets;
	uint32_t n_metrics;
	uint32_t n_channels; /* of all sockets */
	uint64_t generation[2];
	const char *platform; /* "icelake-sp"; "standin", "simulated": not this machine's */
};
#define UNCORE_MACHINE_INIT                                                                        \
	{                                                                                          \
		sizeof(struct uncore_machine), 0, 0, 0, { 0, 0 }, NULL                             \
	}

/* One socket. */
struct uncore_socket {
	uint32_t size;    /* sizeof(struct uncore_socket) */
	uint32_t package; /* the kernel's physical_package_id */
	uint32_t cpu;     /* CPU on which uncored reads its counters; UINT32_MAX: it has none */
	uint32_t first_channel; /* for uncore_describe_channel(): its channels are neighbours */
	uint32_t n_channels;
	uint32_t reserved;
};
#define UNCORE_SOCKET_INIT                                                                         \
	{                                                                                          \
		sizeof(struct uncore_socket), 0, 0, 0, 0, 0                                        \
	}

/* One counter of one memory channel. Channels of a socket are neighbours. */
struct uncore_channel {
	uint32_t size; /* sizeof(struct uncore_channel) */
	uint32_t socket;
	uint32_t metric;
	uint32_t cpu;   /* on which its counter is opened */
	uint32_t bytes; /* per count of .event: the kernel's count is .count / .bytes; 0 where
			   .event is "" */
	uint32_t reserved;
	const char *name;  /* "imc3"; strings live until uncore_close() */
	const char *pmu;   /* the kernel's name of the counter box: "uncore_imc_3" */
	const char *event; /* ... and its name of the event: "cas_count_read"; "": the kernel has no
			      name for it, or the channel is a sum of several events */
};
#define UNCORE_CHANNEL_INIT                                                                        \
	{                                                                                          \
		sizeof(struct uncore_channel), 0, 0, 0, 0, 0, NULL, NULL, NULL                     \
	}

/* How uncored itself is doing. */
struct uncore_daemon {
	uint32_t size; /* sizeof(struct uncore_daemon) */
	uint32_t n_clients;
	uint64_t started_ns; /* CLOCK_MONOTONIC */
	uint64_t refused;    /* requests and connections, so far */
	uint64_t sweeps;     /* of all sockets, so far */
	uint64_t throttled;  /* readings that had to wait for the budget or an interval, so far */
	uint64_t cpu_ns;     /* CPU time of the threads that read the counters, so far */
	uint64_t min_interval_ns; /* the longest that the site may hold back a fresh read */
	uint64_t quantum; /* values are rounded down to a multiple of this many bytes; 1: exact.
			     Since 0.2 */
};
#define UNCORE_DAEMON_INIT                                                                         \
	{                                                                                          \
		sizeof(struct uncore_daemon), 0, 0, 0, 0, 0, 0, 0, 0                               \
	}

struct uncore_channel_value {
	uint64_t count;
	uint32_t quality;
	uint32_t why;
};

/* --- connecting --- */

/*
 * Connects to uncored at @socket_path (NULL: $UNCORE_SOCKET, or /run/uncored/socket) and maps its
 * page, within ten seconds in all. *@ret_handle is the caller's, for uncore_close(). -ENOENT,
 * -ECONNREFUSED: no daemon listens there; -ENAMETOOLONG: @socket_path is too long for a socket;
 * -EACCES: uncored's socket, or its policy, is not open to this user; -EPROTONOSUPPORT: uncored's
 * release is not compatible with this library; -EBADMSG: the peer that answers is not uncored;
 * -ECONNRESET: uncored closed two connections without an answer; -EDQUOT: there are too many
 * connections; -ETIMEDOUT: uncored did not answer; -EMFILE, -ENOMEM: this process, or uncored, has
 * no room; -EINVAL: @ret_handle is NULL. If uncored is there but serves nothing: -ENODEV: it has
 * nothing to count with here; -EPERM: the kernel refuses it the counters; -EINVAL: its
 * configuration or a platform file is wrong; -ENOMEM. Any thread. Since 0.1.
 */
int uncore_open(const char *socket_path, struct uncore **ret_handle);

/*
 * As uncore_open(), within @timeout_ns > 0 instead of ten seconds. For programs that others wait
 * for. Errors as uncore_open(); -EINVAL: @timeout_ns is 0. Any thread. Since 0.1.
 */
int uncore_open_within(const char *socket_path, uint64_t timeout_ns, struct uncore **ret_handle);

/* Frees everything of @handle, strings included; NULL is allowed. Since 0.1. */
void uncore_close(struct uncore *handle);

/*
 * One or two sentences on why the last call of this thread failed and what to do; "" if none did.
 * Lives until this thread's next failure. Since 0.1.
 */
const char *uncore_error_text(void);

/*
 * Sets how long a fresh read waits at most; @timeout_ns > 0. Without this call a read waits until
 * 10 s after the time at which uncored says that it is due. A limit that is set here holds as it
 * is, with no addition. -EINVAL. Not while another thread uses the handle. Since 0.1.
 */
int uncore_set_timeout(struct uncore *handle, uint64_t timeout_ns);

/* --- describing --- */

/* -EINVAL: ret_machine->size is not known, or the handle is a forked parent's. Since 0.1. */
int uncore_describe(const struct uncore *handle, struct uncore_machine *ret_machine);

/* Name and unit ("bytes", "ns") of metric 0 .. n_metrics - 1; NULL past the end. Since 0.1. */
const char *uncore_metric_name(const struct uncore *handle, uint32_t metric);
const char *uncore_metric_unit(const struct uncore *handle, uint32_t metric);

/*
 * The number that the site gave metric 0 .. n_metrics - 1 for Performance Co-Pilot (pmid of a
 * platform file); 0: none, or past the end. Since 0.2.
 */
uint32_t uncore_metric_pmid(const struct uncore *handle, uint32_t metric);

/* The index of the metric of this name, or -ENOENT: this platform has none. Since 0.1. */
int uncore_find_metric(const struct uncore *handle, const char *name);

/* -ENOENT: @socket is not 0 .. n_sockets - 1; -EINVAL. Since 0.1. */
int uncore_describe_socket(
	const struct uncore *handle, uint32_t socket, struct uncore_socket *ret_socket);

/* -ENOENT: @channel is not 0 .. n_channels - 1. Since 0.1. */
int uncore_describe_channel(
	const struct uncore *handle, uint32_t channel, struct uncore_channel *ret_channel);

/*
 * How uncored is doing, as of now. No system call, and no sweep. -EINVAL: ret_daemon->size is not
 * known, or the handle is a forked parent's. Since 0.1.
 */
int uncore_describe_daemon(const struct uncore *handle, struct uncore_daemon *ret_daemon);

/* Why a value is absent, from its .why; lives until uncore_close(). Since 0.1. */
const char *uncore_why(const struct uncore *handle, uint32_t why);

/*
 * Writes the words of @quality, comma-separated ("estimated,partial"; "" for none), into @buffer,
 * cut to fit @size_bytes. "unknown" stands for a flag of an uncored that is newer than this
 * library. Returns the length of the whole text. Since 0.1.
 */
int uncore_quality_words(uint32_t quality, char *buffer, size_t size_bytes);

/*
 * Asks uncored for its whole state as JSON (what `uncore info --json` prints), over a connection of
 * its own. *@ret_json is the caller's, for free(3). Errors as uncore_open(). Takes up to ten
 * seconds in all. Since 0.1.
 */
int uncore_info(const char *socket_path, char **ret_json);

/*
 * Asks uncored for all platforms that it knows, as JSON (what `uncore info --platforms --json`
 * prints), as uncore_info() does. Since 0.1.
 */
int uncore_platforms(const char *socket_path, char **ret_json);

/*
 * Asks uncored for its clients and what they cost, as JSON (what `uncore info --clients --json`
 * prints, without the names of commands), as uncore_info() does. -EPERM: only root may ask. Since
 * 0.2.
 */
int uncore_clients(const char *socket_path, char **ret_json);

/*
 * Tells uncored the @uid of the user whose job the node runs from now on; UNCORE_NO_OWNER:
 * nobody's. Where the site lets only owners read (owner_only of uncored.conf), the pages of all
 * other users are withdrawn when this returns. -EPERM: only root may set it; other errors as
 * uncore_info(). Since 0.1.
 */
#define UNCORE_NO_OWNER 0xffffffffu
int uncore_set_owner(const char *socket_path, uint32_t uid);

/* A user for whom a program reads. @groups has @n_groups entries; NULL if there are none. The
 * struct never grows. */
#define UNCORE_UNKNOWN_USER 0xffffffffu
struct uncore_user {
	uint32_t uid, gid; /* UNCORE_UNKNOWN_USER: not known */
	uint32_t n_groups;
	const uint32_t *groups;
};

/*
 * May @user see the values that @handle reads? For programs that read for other users, as
 * pmdauncore(1) does for pmcd's clients. 0: yes; -EACCES: the site's rules do not let this user
 * connect: see uncore_error_text(). An unknown user may see them where everybody may. A rule must
 * let in root like every other user. The answer holds for the reading just before. Of the socket,
 * only the permissions of its file count. -EAGAIN: uncored is changing the rules at this moment;
 * -EINVAL: @user is NULL; -EBADMSG: the peer that answers is not uncored. Makes no system call. Any
 * thread. Since 0.2.
 */
int uncore_admits(const struct uncore *handle, const struct uncore_user *user);

/* --- reading --- */

/*
 * Reads one socket. UNCORE_CACHED: no system call, any age. UNCORE_FRESH: rings the daemon and
 * waits for a sweep that began after this call. All clients that wait share the sweep. -ETIMEDOUT:
 * the read was due, but the socket's reader hangs, or the limit of uncore_set_timeout() has passed;
 * -ENOTCONN: the daemon is gone, or closed this connection; -EAGAIN: the socket has not been read
 * yet (UNCORE_CACHED only), or the daemon died while it wrote; -EACCES: uncored has withdrawn this
 * page; -EINVAL: no such socket, wrong size, or a forked parent's handle. After -ENOTCONN and
 * -EACCES open a new handle: if its generation is the same, no count was lost. Any thread. Since
 * 0.1.
 *
 * A user that reads fresh without pause is held back: reads become slower, but do not fail. uncored
 * spends at most its budget (10 % of one CPU by default) on a socket's sweeps, and a site may set a
 * least time between two of them. `uncore info` shows both, the cost of a sweep, and how often
 * reads were held back.
 */
int uncore_read(
	const struct uncore *handle, uint32_t socket, int how, struct uncore_sample *ret_sample);

/*
 * Reads all sockets in parallel. @ret_samples has room for @n_samples >= n_sockets elements; each
 * has its .size set, all to the same. Errors as uncore_read(); on failure no element is touched.
 * Any thread. Since 0.1.
 */
int uncore_read_all(const struct uncore *handle, int how, struct uncore_sample ret_samples[],
	uint32_t n_samples);

/*
 * Reads one socket with its channels. @ret_values has room for @n_values elements, at least one for
 * each channel of the socket, and gets them in the order of uncore_describe_channel(). Returns the
 * number of channels. -EINVAL: too little room; -ENOMEM; other errors as uncore_read(). Any thread.
 * Since 0.1.
 */
int uncore_read_channels(const struct uncore *handle, uint32_t socket, int how,
	struct uncore_sample *ret_sample, struct uncore_channel_value ret_values[],
	uint32_t n_values);

/*
 * The difference @to - @from of two samples of one socket. A pure function. -ESTALE: the daemon was
 * restarted in between, so counts may be lost; -EINVAL: different sockets, @to is older than @from,
 * or a wrong size. Since 0.1.
 */
int uncore_delta(const struct uncore_sample *from, const struct uncore_sample *to,
	struct uncore_delta *ret_delta);

/* --- regions --- */

/*
 * Named regions of code. A passage goes from a begin to its end, in one thread; passages nest (32
 * deep per thread), may recur in themselves, and overlap with passages of other threads and
 * processes.
 *
 * Processes of one user on one node that belong to one job step are a *team*. A process without a
 * job step and the children that it forks are one, too. A socket's counts cannot be divided among
 * threads or processes. So a region is open while any thread of the team is inside it. Only the
 * begin that opens it and the end that closes it take a fresh reading of all sockets, and of short
 * passages one after many. All other begins and ends take no reading and make no system call. What
 * moved between two readings belongs to the regions that were open: uncore-numbers(7).
 *
 * Name: 1 to 63 bytes of UTF-8 without control characters; copied. A team has at most 1024
 * processes at a time, and 999 regions; the names of all others share one, "(other names)".
 *
 * When the last process of a team exits, a destructor of the library writes the sums of all its
 * processes to stderr as a table, or as JSON (uncore-report(5)) to the file that UNCORE_REPORT
 * names. libuncore(3) says what %p, %h, %r, %j and %% are in that name, what stays of processes
 * that do not exit, and what UNCORE_OVERHEAD and the other variables do.
 *
 * begin: -EINVAL (name), -ENOMEM: nothing was opened; -EOVERFLOW (too deep), -EBADF: the program
 * has closed a descriptor of the library; or as uncore_open() and uncore_read(). Otherwise a region
 * that failed to begin is still open and must be ended; its passage counts as failed. To end one
 * that was not opened is harmless. end: -EINVAL (name, or not the innermost region of this thread;
 * nothing was ended then), -ESTALE, -EOVERFLOW, as uncore_read(), or the error of the begin that
 * opened the region, with the same sentence. All failures, and regions that a thread leaves open
 * when it ends, show in the report. Since 0.1; teams since 0.2.
 */
int uncore_region_begin(const char *name);
int uncore_region_end(const char *name);

/*
 * How long the last passage took that uncore_region_end() of this thread ended, in ns. 0: there was
 * none, or it was nested too deeply. Makes no system call. Since 0.2.
 */
uint64_t uncore_passage_ns(void);

/*
 * Ends @old, the innermost region of this thread, and begins @new at once, with at most one reading
 * for both. Errors as of both; -EINVAL: nothing has ended or begun then. Since 0.2.
 */
int uncore_region_next(const char *old, const char *new_name);

/*
 * A span is a passage that may end in another thread than it began in, and that nests with nothing:
 * for messages, tasks and coroutines. A process may have 65,536 open ones. An open span counts in
 * shares as a thread of its own does. begin: as uncore_region_begin(); *@ret_span is for one
 * uncore_span_end(), also after an error other than -EINVAL, -ENOSPC and -ENOMEM, after which it is
 * 0. end: as uncore_region_end(); -EINVAL: the span is not open, or was begun before this process
 * was forked. Since 0.2.
 */
int uncore_span_begin(const char *name, uint64_t *ret_span);
int uncore_span_end(uint64_t span);

/*
 * A state of this process, beside its regions: for example "MPI", while any of its threads is
 * inside of MPI. From its first call on, the process takes part. It is in the state while more
 * threads have come in (ON) than gone out (OFF). LEFT ends that. The report of the team has the
 * bytes of four times, @name with:
 * "/any", while any process was in the state; "/all", while all that took part were in it; "/none",
 * while none was; "/some", the rest of the time in which any took part. They are exact while each
 * change between these times is read, and have an error once the budget for that is spent. States
 * change no figure of a region. -EINVAL: a bad name (at most 58 bytes) or state;
 * -ENOSPC: the team has 8 states, the most, or 999 regions; otherwise as
 * uncore_region_begin(). The state has changed even then, unless it is -EINVAL, -ENOSPC or -ENOMEM.
 * Any thread. Since 0.2.
 */
#define UNCORE_STATE_LEFT 0
#define UNCORE_STATE_OFF  1
#define UNCORE_STATE_ON   2
int uncore_state_set(const char *name, int state);

/*
 * Adds @amount >= 0 of @unit, for example 1e6 of "cells", to the work of the region @name: what
 * this process did there since the last such call. Amounts are added up over the processes of the
 * team, and the report shows bytes for each unit of work. @unit: 1 to 15 bytes, as a region's name;
 * a region has at most 3. "bytes stored" is the unit of the bytes that the code stored; the report
 * derives from them the share of evaded write-allocates. -EINVAL: a bad name, amount or unit;
 * -ENOSPC: too many units; -ENOMEM. Any thread. Since 0.2.
 */
int uncore_region_work(const char *name, double amount, const char *unit);

/*
 * Says what the region @name is short for: the report has @title beside it. The first title of a
 * region counts. 1 to 2047 bytes, otherwise as a name. -EINVAL: a bad name or title; -ENOSPC: the
 * region is one of "(other names)"; -ENOMEM. Any thread. Since 0.2.
 */
int uncore_region_title(const char *name, const char *title);

/*
 * Writes the report of the team so far, as JSON to the file @path (expanded as above), or as a
 * table to stderr if @path is NULL. -EINVAL: @path has another %; errors of open(2) and write(2).
 * Since 0.1.
 */
int uncore_region_report(const char *path);

/* --- teams of others --- */

/*
 * The record of a team, as JSON (uncore-report(5)), while its processes run or after their end,
 * also if they were killed. uncored keeps it until uncore_team_forget(), for an hour at most. @uid:
 * the team's user; UNCORE_UNKNOWN_USER: the caller; only root may give another user. @name,
 * @number: name and run of the team (run 0: the newest). With @name NULL, @number counts the user's
 * teams from 0, the oldest. Returns the number of processes that live. *@ret_json is the caller's,
 * for free(3). -ENODATA: there is no such team; -EALREADY: its last process has reported it;
 * -EPERM: it is another user's; -EBADMSG: the table is not one of this release; otherwise as
 * uncore_info(). Since 0.2.
 */
int uncore_team_record(
	const char *socket_path, uint32_t uid, const char *name, uint32_t number, char **ret_json);

/*
 * As uncore_team_record(), of the file @path, in which a process without a job step left its table
 * because it ended without a report, or still runs: libuncore(3). -ENOMSG: the file is not a table,
 * or cannot be opened; -EBADMSG: not one of this release; -EALREADY: its processes have reported.
 * Since 0.2.
 */
int uncore_table_record(const char *path, char **ret_json);

/* Makes uncored forget run @run of a team. Errors as above. Since 0.2. */
int uncore_team_forget(const char *socket_path, uint32_t uid, const char *name, uint32_t run);

/*
 * Takes a reading for the newest run of the caller's team @name, as its processes do at begins and
 * ends, so that little is missing if they are killed. A region whose processes have died is closed
 * by it. Nothing is read if no region was open since the last reading, or if that was less than
 * @gap_ns ago. 1: there was a reading; 0: there was none. *@ret_left_ns, unless NULL, is when to
 * ask again, in ns. May block as uncore_team_record() and uncore_read_all(). Errors as of both;
 * -ENOSPC: the table has no free place. Since 0.2.
 */
int uncore_team_observe(
	const char *socket_path, const char *name, uint64_t gap_ns, uint64_t *ret_left_ns);

#ifdef __cplusplus
}
#endif

#endif
