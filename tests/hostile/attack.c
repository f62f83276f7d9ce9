/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/hostile/attack.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/page.h"
#include "common/wire.h"
#include "tests/harness/cpu-time.h"
#include "tests/harness/program.h"
#include "tests/hostile/memfds.h"
#include "tests/hostile/victim.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* asm-generic/socket.h since Linux 6.16 */
#endif

/* Of three batches the median is within the limits if two are. */
enum { MAJORITY = 2, BATCHES = 2 * MAJORITY - 1, PROCESSES_MAX = 64 };
enum { OPENS = 500, OPENS_TO_WARM = 50, OPENS_FOR_FACTS = 50 };
enum { LIFE_S = 600, END_S = 180 };
enum { STACK_BYTES = 64 * 1024, REFUSED_US = 10000 };
enum { GROWTH_KIB = 4096, KEPT_KIB = 2048, MEMFDS = 16, KEPT_DESCRIPTORS = 2, STUCK_SAMPLES = 3 };

static const uint64_t PATIENT_NS = 180000000000;

/* The most that the victim's times beside an attack may be over its times at rest. */
static const double FACTOR = 10;

/* Memory that parent, attackers and newcomer share. */
static struct {
	unsigned n_on;
	uint64_t deeds;
	double newcomer_us;
} * shared;

/* No time decides, so that other work of the computer does not matter. */
static bool facts_only;

/* Before the first attack. */
static uint64_t rss_before_kib;
static long descriptors_before;

/* --- for the attackers --- */

unsigned attack_is_on(void)
{
	return __atomic_fetch_add(&shared->n_on, 1, __ATOMIC_SEQ_CST);
}

void attack_did(uint64_t deeds)
{
	__atomic_add_fetch(&shared->deeds, deeds, __ATOMIC_SEQ_CST);
}

void attack_become(uid_t uid)
{
	if (setgroups(0, NULL) < 0 || setgid(uid) < 0 || setuid(uid) < 0)
		_exit(99);
}

int attack_connect(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s", the_daemon.socket_path);
	while (fd < 0 || connect(fd, (const void *)&address, sizeof address) < 0) {
		if (errno != ECONNREFUSED && errno != ENOENT)
			_exit(98);
		usleep(REFUSED_US);
	}
	return fd;
}

void attack_say_hello(int fd)
{
	union wire_message hello;

	wire_begin(&hello, WIRE_HELLO);
	hello.hello.version = WIRE_VERSION;
	wire_send(fd, &hello, NULL, 0);
}

bool attack_hello(int fd, struct wire_packet *ret)
{
	attack_say_hello(fd);
	if (wire_receive(fd, WIRE_FROM_DAEMON, ret) == 1) {
		if (ret->message.header.opcode == WIRE_WELCOME)
			return true;
		wire_packet_done(ret);
	}
	close(fd);
	return false;
}

int attack_greet(struct wire_packet *ret)
{
	int fd;

	while (!attack_hello(fd = attack_connect(), ret))
		usleep(REFUSED_US);
	return fd;
}

const uint32_t *attack_wakeup(const struct wire_packet *welcome)
{
	const struct page_wakeup *wakeups = mmap(NULL, sizeof *wakeups, PROT_READ, MAP_SHARED,
		welcome->fds[welcome->message.welcome.n_sockets + 1], 0);

	if (wakeups == MAP_FAILED)
		_exit(95);
	return &wakeups->n_rung;
}

unsigned attack_watch(struct watchers *watchers, int fd, unsigned n_epolls, unsigned n_duplicates)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	unsigned n = 0;

	while (watchers->n_epolls < n_epolls)
		watchers->epolls[watchers->n_epolls++] = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned i = 0; i < n_duplicates; i++)
		watchers->duplicates[i] = dup(fd);
	watchers->n_duplicates = n_duplicates;
	while (n < n_epolls * n_duplicates &&
		epoll_ctl(watchers->epolls[n / n_duplicates], EPOLL_CTL_ADD,
			watchers->duplicates[n % n_duplicates], &event) == 0)
		n++;
	return n;
}

bool attack_ring(int doorbell)
{
	const uint64_t one = 1;

	return write(doorbell, &one, sizeof one) == sizeof one;
}

unsigned attack_hold(int doorbells[], unsigned most)
{
	struct wire_packet packet;
	unsigned n = 0;

	while (n < most && attack_hello(attack_connect(), &packet)) {
		doorbells[n++] = packet.fds[1];
		for (unsigned i = 0; i < packet.n_fds; i++)
			if (i != 1)
				close(packet.fds[i]);
	}
	return n;
}

void attack_start_threads(unsigned n, void *(*body)(void *), void *arguments, size_t stride)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&thread, &attr, body, (char *)arguments + i * stride) != 0)
			_exit(96);
	pthread_attr_destroy(&attr);
}

/* What an attacker does, and to whom. */
struct assault {
	int (*body)(void *argument);
	const struct daemon_process *daemon;
	unsigned seconds;
};

/* The whole group of processes is killed, so that forks end, too. */
static int run_assault(void *argument)
{
	const struct assault *assault = argument;

	the_daemon = *assault->daemon;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(LIFE_S + assault->seconds);
	return assault->body(NULL);
}

/* --- the newcomer --- */

/* Opens and reads once. */
static int come_and_read(void *argument)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	uint64_t before_ns = clock_now_ns();
	struct uncore *uncore;

	if (victim_open(facts_only, &uncore) < 0 ||
		uncore_read(uncore, 0, UNCORE_FRESH, &sample) < 0) {
		printf("# newcomer: %s\n", uncore_error_text());
		fflush(stdout);
		return 1;
	}
	uncore_close(uncore);
	shared->newcomer_us = (double)(clock_now_ns() - before_ns) / 1000;
	return 0;
}

/* --- the daemon --- */

static void (*in_child)(const struct daemon_process *);

/*
 * Under systemd all services have as much of the CPUs as all users (systemd.special(7): slices),
 * so many processes of users cannot push uncored aside. Here a nice value does that, which weighs
 * nine of them (kernel/sched/core.c). Without it an open beside ten attackers on 2 CPUs took 5 to
 * 15 ms instead of 0.3, because the main thread had a twelfth of the CPUs.
 */
static void weigh_as_service(const struct daemon_process *daemon)
{
	setpriority(PRIO_PROCESS, 0, -10);
	if (in_child)
		in_child(daemon);
}

static uint64_t main_thread_cpu_ns(void)
{
	struct cpu_time daemons;

	assert_int_equal(cpu_time(the_daemon.pid, the_daemon.pid, &daemons), 0);
	return daemons.ran_ns;
}

struct busy {
	uint64_t at_ns, cpu_ns;
};

static struct busy busy_now(void)
{
	return (struct busy){ clock_now_ns(), main_thread_cpu_ns() };
}

static double busy_percent_since(const struct busy *then)
{
	struct busy now = busy_now();

	return 100 * (double)(now.cpu_ns - then->cpu_ns) / (double)(now.at_ns - then->at_ns);
}

static char main_thread_state(void)
{
	char path[64], state = '?';
	_cleanup_file_ FILE *file = NULL;

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", the_daemon.pid, the_daemon.pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
	return state;
}

/* How the daemon was seen during an attack. */
struct watch {
	uint64_t rss_kib; /* at most */
	long descriptors; /* at most */
	unsigned n_stuck,
		longest_stuck; /* samples in a row of a main thread that cannot be killed */
};

static void look_at_daemon(void *argument)
{
	struct watch *watch = argument;
	uint64_t rss_kib = daemon_rss_kib(&the_daemon);
	long descriptors = daemon_descriptors(&the_daemon);

	if (descriptors > watch->descriptors)
		watch->descriptors = descriptors;
	watch->rss_kib = rss_kib > watch->rss_kib ? rss_kib : watch->rss_kib;
	watch->n_stuck = main_thread_state() == 'D' ? watch->n_stuck + 1 : 0;
	if (watch->n_stuck > watch->longest_stuck)
		watch->longest_stuck = watch->n_stuck;
}

/*
 * The daemon notices that a flooder died when its second of being ignored is over. Descriptors that
 * the daemon opens at first need and keeps are not a leak: the last report, the event loop's timer.
 */
static bool comes_to_rest(long descriptors)
{
	enum { AT_REST_NS = 5000000 };
	uint64_t deadline_ns = clock_now_ns() + PATIENT_NS, cpu_ns;
	bool at_rest;

	/* The backlog of a flood is still worked off. */
	do {
		cpu_ns = main_thread_cpu_ns();
		usleep(50000);
		cpu_ns = main_thread_cpu_ns() - cpu_ns;
		at_rest = cpu_ns <= AT_REST_NS && daemon_descriptors(&the_daemon) <= descriptors;
	} while (!at_rest && clock_now_ns() < deadline_ns);
	return at_rest;
}

/* --- the attack --- */

struct attackers {
	pid_t pids[PROCESSES_MAX];
	unsigned n;
};

static void attackers_start(
	struct attackers *attackers, const struct assault *assault, unsigned n, uid_t uid)
{
	uint64_t deadline_ns = clock_now_ns() + PATIENT_NS;

	shared->n_on = 0;
	shared->deeds = 0;
	for (attackers->n = 0; attackers->n < n; attackers->n++)
		attackers->pids[attackers->n] =
			start_as(uid, run_assault, (void *)(uintptr_t)assault);
	while (__atomic_load_n(&shared->n_on, __ATOMIC_SEQ_CST) < n && clock_now_ns() < deadline_ns)
		usleep(1000);
}

static void attackers_attack(struct attackers *attackers, const struct attack *attack,
	const struct daemon_process *daemon)
{
	const struct assault assault = { attack->body, daemon, attack->seconds };

	attackers_start(
		attackers, &assault, attack->n_processes, attack->begins_as_root ? 0 : ATTACKER);
}

static void attackers_stop(const struct attackers *attackers)
{
	for (unsigned i = 0; i < attackers->n; i++)
		kill(-attackers->pids[i], SIGKILL);
	for (unsigned i = 0; i < attackers->n; i++) {
		kill(attackers->pids[i], SIGKILL);
		wait_for(attackers->pids[i], END_S);
	}
}

uint64_t attack_deeds(void)
{
	return __atomic_load_n(&shared->deeds, __ATOMIC_SEQ_CST);
}

bool attack_wait_for_deeds(uint64_t deeds)
{
	uint64_t deadline_ns = clock_now_ns() + PATIENT_NS;

	while (attack_deeds() < deeds && clock_now_ns() < deadline_ns)
		usleep(1000);
	return attack_deeds() >= deeds;
}

struct outcome {
	struct victim_figures attacked, rest;
	struct watch daemon;
	double busy_percent, busy_at_rest_percent; /* the main thread */
	unsigned memfds;
	long descriptors; /* that the daemon has kept */
	uint64_t deeds;
	bool all_on, all_done, rested;
	int newcomer;
};

static void do_nothing(void *argument)
{
}

static void let_measure(
	struct victim *victim, unsigned n_opens, unsigned seconds, struct watch *daemon)
{
	const struct victim_order order = { n_opens, seconds, facts_only };

	victim_measure(victim, &order, daemon ? look_at_daemon : do_nothing, daemon);
}

static unsigned n_opens(void)
{
	return facts_only ? OPENS_FOR_FACTS : OPENS;
}

static void attack_once(const struct attack *attack, struct victim *victim, struct outcome *ret)
{
	struct attackers attackers;
	struct busy begin;

	attackers_attack(&attackers, attack, &the_daemon);
	ret->all_on = shared->n_on == attack->n_processes;
	begin = busy_now();
	let_measure(victim, n_opens(), facts_only ? 0 : attack->seconds, &ret->daemon);
	ret->attacked = *victim->figures;
	ret->busy_percent = busy_percent_since(&begin);
	ret->newcomer = wait_for(start_as(NEWCOMER, come_and_read, NULL), END_S);
	ret->all_done = attack_wait_for_deeds(attack->deeds);
	ret->deeds = attack_deeds();
	look_at_daemon(&ret->daemon);
	ret->memfds = memfds_count(the_daemon.pid, attackers.pids, attackers.n);
	attackers_stop(&attackers);
	ret->rested = comes_to_rest(
		descriptors_before + (long)(attack->kept ? attack->kept : KEPT_DESCRIPTORS));
	ret->descriptors = daemon_descriptors(&the_daemon) - descriptors_before;
}

static const char *the_config;

/* The attackers and an uncored take as much of the computer, and the victim asks another one. */
static void measure_beside_another(const struct attack *attack, struct victim *victim)
{
	struct daemon_process another = { .descriptor_limit = the_daemon.descriptor_limit,
		.in_child = the_daemon.in_child };
	struct attackers attackers;

	memcpy(another.etc, the_daemon.etc, sizeof another.etc);
	daemon_start(&another, "standin", the_config);
	attackers_attack(&attackers, attack, &another);
	let_measure(victim, OPENS, attack->seconds, NULL);
	attackers_stop(&attackers);
	daemon_stop(&another);
}

static void measure_beside(int (*body)(void *), struct victim *victim)
{
	const struct assault assault = { body, &the_daemon, 0 };
	struct attackers attackers;

	attackers_start(&attackers, &assault, 1, ATTACKER);
	let_measure(victim, OPENS, 0, NULL);
	attackers_stop(&attackers);
}

static void rest_once(const struct attack *attack, struct victim *victim, struct outcome *ret)
{
	struct busy begin = busy_now();

	if (attack->at_rest)
		measure_beside(attack->at_rest, victim);
	else
		measure_beside_another(attack, victim);
	ret->rest = *victim->figures;
	ret->busy_at_rest_percent = busy_percent_since(&begin);
}

static void print_times(const struct attack *attack, const struct outcome *outcome)
{
	const struct victim_figures *a = &outcome->attacked, *r = &outcome->rest;

	printf("# %s: open p99 %.0f / %.0f us = %.1f; read p99 %.0f / %.0f us = %.1f, worst %.0f; "
	       "%u failed at rest; median open %.0f / %.0f, read %.0f / %.0f us\n",
		attack->name, a->open_p99_us, r->open_p99_us, a->open_p99_us / r->open_p99_us,
		a->read_p99_us, r->read_p99_us, a->read_p99_us / r->read_p99_us, a->read_worst_us,
		r->n_failed, a->open_p50_us, r->open_p50_us, a->read_p50_us, r->read_p50_us);
}

static void print_facts(const struct attack *attack, const struct outcome *outcome)
{
	const struct victim_figures *a = &outcome->attacked;

	printf("# %s: %u of %u failed\n", attack->name, a->n_failed, a->n_opens + a->n_reads);
	printf("#   the main thread took %.0f %% (at rest %.0f); newcomer %.1f ms; %" PRIu64
	       " KiB, %u memfds; %ld descriptors, %ld more kept; %" PRIu64 " deeds; stuck %u\n",
		outcome->busy_percent, outcome->busy_at_rest_percent, shared->newcomer_us / 1000,
		outcome->daemon.rss_kib, outcome->memfds, outcome->daemon.descriptors,
		outcome->descriptors, outcome->deeds, outcome->daemon.longest_stuck);
	if (a->n_failed)
		printf("#   the first that failed: %s\n", a->failure);
	fflush(stdout);
}

static bool is_near(double attacked_us, double rest_us)
{
	return attacked_us <= FACTOR * rest_us;
}

/* Are the victim's times and the main thread's within the limits? */
static bool is_good(const struct attack *attack, const struct outcome *outcome)
{
	const struct victim_figures *a = &outcome->attacked, *r = &outcome->rest;
	const double more_percent = outcome->busy_percent - outcome->busy_at_rest_percent;
	const bool calls =
		is_near(a->open_p99_us, r->open_p99_us) && is_near(a->read_p99_us, r->read_p99_us);

	return (calls || attack->only_daemon) &&
	       (!attack->busy_percent || more_percent <= attack->busy_percent);
}

/* Harm that no batch may show; NULL: none. */
static const char *find_harm(const struct attack *attack, const struct outcome *outcome)
{
	unsigned most_memfds = attack->memfds ? attack->memfds : MEMFDS;
	long most_descriptors =
		descriptors_before +
		(long)(attack->descriptors ? attack->descriptors : ACCOUNT_DESCRIPTORS);
	bool calls = !attack->only_daemon;
	const struct {
		bool is_so;
		const char *text;
	} harms[] = {
		{ !outcome->all_on, "The attackers did not get into position." },
		{ !outcome->all_done, "The attackers did too little." },
		{ calls && outcome->attacked.n_failed, "Calls of the victim failed." },
		{ calls && outcome->rest.n_failed, "Calls of the victim failed afterwards." },
		{ calls && outcome->newcomer, "A newcomer was not served." },
		{ outcome->daemon.rss_kib > rss_before_kib + GROWTH_KIB, "The daemon grew." },
		{ outcome->memfds > most_memfds, "There are too many memfds." },
		{ outcome->daemon.descriptors > most_descriptors,
			"The daemon had too many descriptors." },
		{ !facts_only && outcome->daemon.longest_stuck >= STUCK_SAMPLES,
			"The main thread was stuck." },
		{ !outcome->rested, "The daemon did not come to rest, or kept descriptors." },
	};

	for (size_t i = 0; i < ARRAY_SIZE(harms); i++)
		if (harms[i].is_so)
			return harms[i].text;
	return NULL;
}

static void note_beginning(struct victim *victim)
{
	if (rss_before_kib) {
		let_measure(victim, OPENS_TO_WARM, 0, NULL);
		return;
	}
	let_measure(victim, n_opens(), 0, NULL); /* all that the daemon will ever hold is open */
	/* The daemon may keep a little for users that have left. */
	wait_for(start_as(ATTACKER, come_and_read, NULL), END_S);
	wait_for(start_as(NEWCOMER, come_and_read, NULL), END_S);
	rss_before_kib = daemon_rss_kib(&the_daemon);
	descriptors_before = daemon_descriptors(&the_daemon);
}

/* The users that are victims, one batch each. */
static unsigned victim_uid(const struct attack *attack, unsigned batch)
{
	static const unsigned uids[BATCHES] = { NOBODY, SOMEBODY, NEWCOMER };

	return uids[attack->other_victims ? batch : 0];
}

/* Returns the harm that was done, or NULL. */
static const char *attack_in_batch(const struct attack *attack, unsigned uid, bool *ret_is_good)
{
	struct outcome outcome = {};
	struct victim victim;

	victim_start(&victim, uid);
	note_beginning(&victim);
	attack_once(attack, &victim, &outcome);
	if (!facts_only) {
		rest_once(attack, &victim, &outcome);
		print_times(attack, &outcome);
	}
	victim_stop(&victim);
	print_facts(attack, &outcome);
	*ret_is_good = facts_only || is_good(attack, &outcome);
	return find_harm(attack, &outcome);
}

void attack_beside_victim(const struct attack *attack)
{
	const unsigned needed = facts_only ? 1 : MAJORITY;
	unsigned n_good = 0;

	for (unsigned i = 0; n_good < needed && i - n_good < needed; i++) {
		bool is_good;
		const char *harm = attack_in_batch(attack, victim_uid(attack, i), &is_good);

		if (harm)
			fail_msg("%s: %s", attack->name, harm);
		n_good += is_good;
	}
	if (n_good < needed)
		fail_msg("%s: it was beyond the limits in most batches.", attack->name);
}

static void nothing_is_left(void **state)
{
	uint64_t rss_kib = daemon_rss_kib(&the_daemon);

	printf("# memory: %" PRIu64 " -> %" PRIu64 " KiB\n", rss_before_kib, rss_kib);
	assert_in_range(rss_kib, 0, rss_before_kib + KEPT_KIB);
}

void attack_configure(const char *config)
{
	the_config = config;
}

void attack_reconfigure(const char *config)
{
	the_config = config;
	daemon_reload(&the_daemon, config);
}

int attack_run(void)
{
	struct rlimit descriptors;

	in_child = the_daemon.in_child;
	the_daemon.in_child = weigh_as_service;
	facts_only = getenv("UNCORE_TEST_FACTS") != NULL;
	/*
	 * Attackers may hold as many descriptors as possible; the daemon inherits this limit, too.
	 */
	getrlimit(RLIMIT_NOFILE, &descriptors);
	descriptors.rlim_cur = descriptors.rlim_max;
	setrlimit(RLIMIT_NOFILE, &descriptors);
	shared = shared_memory(sizeof *shared);
	the_daemon.etc[0] = (struct etc_file){ "subuid", "1115112:524288:65536\n" };
	case_add((struct CMUnitTest){ "the attacks leave nothing in the daemon", nothing_is_left,
		remember_descriptors, compare_descriptors, NULL });
	return run_on_daemon("standin", the_config);
}

/* --- an older kernel --- */

bool attack_before_6_16(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setsockopt, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SO_PASSRIGHTS, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOPROTOOPT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { ARRAY_SIZE(filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
