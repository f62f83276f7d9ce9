/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * papi-talk: initialises PAPI, says "ready", and does what each line of its standard input says:
 * "T S COMMAND [ARGUMENT]" in thread T, 0 to 3, with that thread's event set S, 0 to 3. It answers
 * by a line: what PAPI returned, and the values if it returned any.
 *
 *	0 0 add uncored:::dram.read:socket=0	-> 0
 *	0 0 start				-> 0
 *	0 0 read				-> 0 4096
 *
 * Commands: add, start, read, stop, reset, clean, reason (why component ARGUMENT is disabled), and
 * fork: a child goes on with the talk, and this process waits for it.
 */
#include <err.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <papi.h>

enum { THREADS = 4, SETS = 4, VALUES_MAX = 256 };

static struct thread {
	pthread_t id;
	sem_t begin, done;
	int sets[SETS];
	const char *line; /* what it does */
} threads[THREADS];

static void answer_values(int status, const long long values[], int n)
{
	printf("%d", status);
	for (int i = 0; i < n && status == PAPI_OK; i++)
		printf(" %lld", values[i]);
	printf("\n");
}

static void answer_reason(const char *component)
{
	int id = PAPI_get_component_index(component);

	if (id < 0)
		errx(1, "PAPI has no component %s.", component);
	printf("%s\n", PAPI_get_component_info(id)->disabled_reason);
}

static void go_on_in_child(void)
{
	pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (child > 0)
		_exit(waitpid(child, NULL, 0) != child);
	printf("0\n");
}

static void obey(int *set, const char *command, const char *argument)
{
	long long values[VALUES_MAX] = { 0 };
	int n = *set == PAPI_NULL ? 0 : PAPI_num_events(*set);

	if (*set == PAPI_NULL && PAPI_create_eventset(set) != PAPI_OK)
		errx(1, "PAPI does not make an event set.");
	if (strcmp(command, "add") == 0)
		printf("%d\n", PAPI_add_named_event(*set, argument));
	else if (strcmp(command, "start") == 0)
		printf("%d\n", PAPI_start(*set));
	else if (strcmp(command, "reset") == 0)
		printf("%d\n", PAPI_reset(*set));
	else if (strcmp(command, "clean") == 0)
		printf("%d\n", PAPI_cleanup_eventset(*set));
	else if (strcmp(command, "read") == 0)
		answer_values(PAPI_read(*set, values), values, n);
	else if (strcmp(command, "stop") == 0)
		answer_values(PAPI_stop(*set, values), values, n);
	else if (strcmp(command, "reason") == 0)
		answer_reason(argument);
	else if (strcmp(command, "fork") == 0)
		go_on_in_child();
	else
		errx(2, "There is no command '%s'.", command);
}

static void do_line(struct thread *thread)
{
	char command[16], argument[128] = "";
	int set;

	if (sscanf(thread->line, "%*d %d %15s %127s", &set, command, argument) < 2 || set < 0 ||
		set >= SETS)
		errx(2, "Wrong line: %s", thread->line);
	obey(&thread->sets[set], command, argument);
	fflush(stdout);
}

static void *work(void *data)
{
	struct thread *thread = data;

	for (;;) {
		sem_wait(&thread->begin);
		if (!thread->line)
			break;
		do_line(thread);
		sem_post(&thread->done);
	}
	PAPI_unregister_thread();
	return NULL;
}

static void begin_thread(struct thread *thread)
{
	for (int i = 0; i < SETS; i++)
		thread->sets[i] = PAPI_NULL;
	sem_init(&thread->begin, 0, 0);
	sem_init(&thread->done, 0, 0);
	if (thread != threads && pthread_create(&thread->id, NULL, work, thread) != 0)
		errx(1, "Cannot begin a thread.");
}

static void hand_over(struct thread *thread, const char *line)
{
	thread->line = line;
	sem_post(&thread->begin);
	if (line)
		sem_wait(&thread->done);
	else
		pthread_join(thread->id, NULL);
}

int main(void)
{
	char line[256];
	int t;

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
		PAPI_thread_init((unsigned long (*)(void))pthread_self) != PAPI_OK)
		errx(1, "PAPI does not begin.");
	for (t = 0; t < THREADS; t++)
		begin_thread(&threads[t]);
	puts("ready");
	while (fflush(stdout), fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "%d", &t) != 1 || t < 0 || t >= THREADS)
			errx(2, "Wrong line: %s", line);
		threads[0].line = line;
		if (t == 0)
			do_line(&threads[0]);
		else
			hand_over(&threads[t], line);
	}
	for (t = 1; t < THREADS; t++)
		hand_over(&threads[t], NULL);
	PAPI_shutdown();
	return 0;
}
