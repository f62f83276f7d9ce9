/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore check: runs the command by `uncore stat --json`, in batches, until the verdict is clear or
 * the time is over. So a baseline is an output of stat, and all that stat says of a command that
 * cannot be measured holds here, too.
 *
 * To look after each batch makes a false alarm likelier than one look would. But the interval must
 * lie above the limit, not only above 1: equal programs are a whole limit away from that.
 */
#include "client/command/compare/compare.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/command/frame/child.h"
#include "client/command/frame/total.h"
#include "client/command/frame/written.h"
#include "client/ratio/pairs.h"
#include "client/records/read.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/text.h"

enum {
	BATCHES_MAX = 64,
	ARGUMENTS_MAX = 4096,
	PATH_MAX_BYTES = 64,
	NAMES_MAX = 1024,
	UPDATE_RUNS = 30,
};
static const double SHARE = 0.01; /* of the largest metric: smaller ones are noise */

struct check {
	struct check_options options;
	struct child_signals signals;
	uint64_t begun_ns, n_runs;
	struct json_document baseline, batches[BATCHES_MAX];
	size_t n_batches;
	const struct json_value *a;
	struct compare all;
	char left_out[NAMES_MAX];
};

static void check_done(struct check *check)
{
	json_document_done(&check->baseline);
	for (size_t i = 0; i < check->n_batches; i++)
		json_document_done(&check->batches[i]);
	pairs_done(&check->all);
}

/* --- runs --- */

/* The exit status of `uncore stat`, or of the command that it ran. */
static int run_stat(struct check *check, char **arguments)
{
	struct child child;
	int status = 0;
	int r = child_new(arguments, &check->signals, &child);

	if (r == 0)
		r = child_go(&child);
	if (r == 0)
		r = child_wait(&child, &check->signals, UINT64_MAX, &status);
	if (r < 0) {
		fprintf(stderr, "uncore check: cannot run `uncore stat`: %s.\n", strerror(-r));
		return EXIT_CANNOT_RUN;
	}
	return WIFSIGNALED(status) ? EXIT_BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Runs the command @n times; the figures go into the file @path. 0, or an exit status. */
static int check_measure(struct check *check, uint64_t n, const char *path)
{
	const char *arguments[ARGUMENTS_MAX] = { "/proc/self/exe", "stat", "--json", "-o", path,
		"-r" };
	char number[24];
	size_t k = 6;

	snprintf(number, sizeof number, "%" PRIu64, n);
	arguments[k++] = number;
	if (check->options.socket_path) {
		arguments[k++] = "--socket";
		arguments[k++] = check->options.socket_path;
	}
	arguments[k++] = "--";
	for (char **word = check->options.command; *word; word++) {
		if (k + 1 >= ARGUMENTS_MAX)
			return option_complain(&check_table, "the command has too many words");
		arguments[k++] = *word;
	}
	check->n_runs += n;
	return run_stat(check, (char **)arguments);
}

/* What the status of a run means for the check. */
static int check_status_of(int status)
{
	if (status == EXIT_NOT_MEASURED)
		return EXIT_INCONCLUSIVE; /* stat has said why */
	if (status < EXIT_NOT_MEASURED)
		fprintf(stderr,
			"uncore check: the command ended with %d, so its bytes are not judged.\n",
			status);
	return status < EXIT_NOT_MEASURED ? EXIT_NOT_MEASURED : status;
}

/* A file without a name, and where our children find it. */
static int check_open_memory(char ret_path[PATH_MAX_BYTES])
{
	int fd = memfd_create("uncore-check", MFD_CLOEXEC);

	snprintf(ret_path, PATH_MAX_BYTES, "/proc/%d/fd/%d", (int)getpid(), fd);
	return fd;
}

/* Measures @n runs. NULL: *@ret_status says why not. */
static const struct json_value *take_batch(struct check *check, uint64_t n, int *ret_status)
{
	char path[PATH_MAX_BYTES];
	_cleanup_close_ int fd = check_open_memory(path);
	const struct json_value *batch;

	*ret_status = fd < 0 ? EXIT_CANNOT_RUN : check_measure(check, n, path);
	if (*ret_status) {
		*ret_status = check_status_of(*ret_status);
		return NULL;
	}
	batch = pairs_read("uncore check", path, &check->batches[check->n_batches++]);
	*ret_status = batch ? 0 : EXIT_INCONCLUSIVE;
	return batch;
}

/* How many more runs the time has room for. */
static uint64_t room(const struct check *check)
{
	const uint64_t used_ns = clock_now_ns() - check->begun_ns;

	return used_ns < check->options.time_ns
		       ? (check->options.time_ns - used_ns) / (used_ns / check->n_runs + 1)
		       : 0;
}

/* --- what is judged --- */

static double larger_mean(const struct compare_pair *pair)
{
	return pair->a.n && pair->b.n ? fmax(compare_mean(&pair->a), compare_mean(&pair->b)) : 0;
}

static bool is_judged(const struct check *check, const struct compare_pair *pair, double largest)
{
	if (check->options.metrics)
		return total_is_chosen(check->options.metrics, pair->name);
	return larger_mean(pair) >= SHARE * largest && !pair->both_zero;
}

/* Leaves out what is not judged. */
static void check_choose_runs(struct check *check)
{
	struct compare *all = &check->all;
	double largest = 0;
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		largest = fmax(largest, larger_mean(&all->pairs[i]));
	for (size_t i = 0; i < all->n; i++) {
		struct compare_pair *pair = &all->pairs[i];

		if (is_judged(check, pair, largest)) {
			all->pairs[n++] = *pair;
			continue;
		}
		if (!check->options.metrics)
			text_append(check->left_out, sizeof check->left_out, " %s", pair->name);
		free(pair->a.runs);
		free(pair->b.runs);
	}
	all->n = n;
}

/* How many runs may bring the limit out of each interval. */
static uint64_t runs_wanted(const struct check *check)
{
	const double limit = log1p(check->options.max_growth / 100);
	double wanted = COMPARE_RUNS_MIN;

	for (size_t i = 0; i < check->all.n; i++) {
		const struct compare_pair *pair = &check->all.pairs[i];
		const double gap = fabs(limit - log(pair->ratio));

		if (!pair->why && compare_limit(pair, check->options.max_growth) == 0)
			wanted = fmax(wanted, compare_runs_needed(pair, 100 * expm1(2 * gap)) -
						      (double)pair->b.n);
	}
	return wanted < COMPARE_RUNS_MAX ? (uint64_t)wanted : COMPARE_RUNS_MAX;
}

/* --- the whole --- */

static bool is_comparable(const struct compare *all)
{
	bool any = false;

	for (size_t i = 0; i < all->n; i++)
		any |= !all->pairs[i].why || all->pairs[i].both_zero;
	return any;
}

/* Another batch: at most as many runs as there were, because the scatter is a guess so far.
 * Returns 0 to go on. */
static int add_batch(struct check *check, int *ret_status)
{
	uint64_t n = runs_wanted(check), most = room(check);
	const struct json_value *batch;

	n = n < check->n_runs ? n : check->n_runs;
	n = n < most ? n : most;
	if (!n || check->n_batches == BATCHES_MAX || child_told_to_stop(&check->signals))
		return -ETIME;
	batch = take_batch(check, n, ret_status);
	if (!batch)
		return -EIO;
	pairs_add(&check->all, check->a, batch);
	compare_judge(check->all.pairs, check->all.n);
	return 0;
}

/* 0; -1, and errno. */
static int write_markdown(const struct check_result *result)
{
	FILE *file = fopen(result->options->markdown, "we");

	if (!file)
		return -1;
	check_print(file, result, true);
	return fclose(file);
}

static int check_tell_batch(const struct check *check, const struct json_value *batch)
{
	const struct check_result result = {
		.options = &check->options,
		.platform = json_text(batch, "platform", "?"),
		.all = &check->all,
		.left_out = check->left_out,
		.side = compare_limits(&check->all, check->options.max_growth),
	};

	check_print(stdout, &result, false);
	if (check->options.markdown && write_markdown(&result) < 0) {
		fprintf(stderr, "uncore check: cannot write %s: %s.\n", check->options.markdown,
			strerror(errno));
		return EXIT_NOT_MEASURED;
	}
	return limit_status(result.side);
}

static int check_against(struct check *check, char *path)
{
	const struct json_value *batch;
	int status = 0;

	check->a = pairs_read("uncore check", path, &check->baseline);
	if (!check->a) {
		fprintf(stderr, "uncore check: --update makes a baseline.\n");
		return EXIT_USAGE;
	}
	batch = take_batch(check, COMPARE_RUNS_MIN, &status);
	if (!batch)
		return status;
	pairs_take(check->a, batch, &check->all);
	check_choose_runs(check);
	compare_judge(check->all.pairs, check->all.n);
	while (is_comparable(&check->all) && status == 0 &&
		compare_limits(&check->all, check->options.max_growth) == 0)
		if (add_batch(check, &status) < 0)
			break;
	return status ? status : check_tell_batch(check, batch);
}

/* Puts the text of the last batch in the place of the baseline. */
static int check_keep_text(const char *path, const char *text)
{
	_cleanup_(written_done) struct written file = { .out = NULL };
	int r = written_open(path, WRITTEN_WHOLE, &file);

	if (r == 0) {
		fputs(text, file.out);
		r = written_end(&file);
	}
	if (r < 0)
		written_complain("uncore check", path, r);
	return r < 0 ? EXIT_NOT_MEASURED : 0;
}

/* A few runs warm the machine up, and tell how many the time has room for. */
static int check_update_baseline(struct check *check)
{
	char path[PATH_MAX_BYTES];
	_cleanup_close_ int fd = check_open_memory(path);
	_cleanup_free_ char *text = NULL;
	uint64_t n;
	int status = 0;

	if (!take_batch(check, COMPARE_RUNS_MIN, &status))
		return status;
	n = room(check) < UPDATE_RUNS ? room(check) : UPDATE_RUNS;
	n = n > COMPARE_RUNS_MIN ? n : COMPARE_RUNS_MIN;
	status = fd < 0 ? EXIT_CANNOT_RUN : check_measure(check, n, path);
	if (status)
		return check_status_of(status);
	if (record_read_text(path, &text) < 0)
		return EXIT_NOT_MEASURED;
	status = check_keep_text(check->options.against, text);
	if (status == 0)
		printf("%s has %" PRIu64 " runs now.\n", check->options.against, n);
	return status;
}

int command_check(int argc, char **argv)
{
	_cleanup_(check_done) struct check check = {
		.options = { .max_growth = 5, .time_ns = UINT64_C(300000000000) },
	};
	int status = option_parse(&check_table, argc, argv, &check.options, NULL);

	if (status >= 0)
		return status;
	if (!check.options.against || optind == argc)
		return option_complain(&check_table,
			"it takes a baseline and a command: `uncore check --against baseline.json "
			"-- ./app`; --update makes the baseline");
	check.options.command = argv + optind;
	check.begun_ns = clock_now_ns();
	child_take_signals(&check.signals);
	return check.options.update ? check_update_baseline(&check)
				    : check_against(&check, (char *)check.options.against);
}
