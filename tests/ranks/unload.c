/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unload MODULE TIMES: loads the module, has a thread go through a region in it, unloads it, and
 * only then has the thread end.
 */
#include <dlfcn.h>
#include <err.h>
#include <pthread.h>

#include "tests/harness/program.h"

enum { MOST = 1000 };

typedef int pass_fn(const char *name);

static pthread_barrier_t barrier;

static void *pass_and_wait(void *pass)
{
	if (((pass_fn *)pass)("module") < 0)
		errx(1, "The region has failed.");
	pthread_barrier_wait(&barrier); /* it is unloaded between these two */
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void load_and_unload(const char *path)
{
	void *module = dlopen(path, RTLD_NOW), *pass = module ? dlsym(module, "module_pass") : NULL;
	pthread_t thread;

	if (!pass)
		errx(1, "%s", dlerror());
	if (pthread_create(&thread, NULL, pass_and_wait, pass) != 0)
		errx(1, "Cannot make a thread.");
	pthread_barrier_wait(&barrier);
	dlclose(module);
	if (dlopen(path, RTLD_NOW | RTLD_NOLOAD))
		errx(1, "%s was not unloaded.", path);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
}

int main(int argc, char *argv[])
{
	if (argc != 3)
		errx(2, "Usage: unload MODULE TIMES");
	pthread_barrier_init(&barrier, NULL, 2);
	for (uint64_t left = program_number(argv[2], MOST); left > 0; left--)
		load_and_unload(argv[1]);
	return 0;
}
