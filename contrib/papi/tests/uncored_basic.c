/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file    uncored_basic.c
 * @brief   Lists the events of component uncored, and counts each of them:
 *          values never go back while a set runs, and begin anew after a reset.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "papi.h"
#include "papi_test.h"

#define MEMORY_BYTES (64 << 20)

static int quiet;

static void check(int retval, const char *what)
{
    if (retval != PAPI_OK) test_fail(__FILE__, __LINE__, what, retval);
}

/* New memory is read from, and written to, what the sockets have. */
static void move_memory(void)
{
    char *memory = malloc(MEMORY_BYTES);

    if (memory == NULL) test_fail(__FILE__, __LINE__, "malloc", PAPI_ENOMEM);
    memset(memory, 1, MEMORY_BYTES);
    if (memory[MEMORY_BYTES - 1] != 1) test_fail(__FILE__, __LINE__, "memset", PAPI_EMISC);
    free(memory);
}

static int find_component(void)
{
    int cid = PAPI_get_component_index("uncored");

    if (cid < 0) test_skip(__FILE__, __LINE__, "component uncored is not built in", cid);
    return cid;
}

static void count(int code, const char *name)
{
    int set = PAPI_NULL;
    long long first, second, third;

    check(PAPI_create_eventset(&set), "PAPI_create_eventset");
    check(PAPI_add_event(set, code), "PAPI_add_event");
    check(PAPI_start(set), "PAPI_start");
    move_memory();
    check(PAPI_read(set, &first), "PAPI_read");
    move_memory();
    check(PAPI_read(set, &second), "PAPI_read");
    check(PAPI_reset(set), "PAPI_reset");
    check(PAPI_stop(set, &third), "PAPI_stop");
    check(PAPI_cleanup_eventset(set), "PAPI_cleanup_eventset");
    check(PAPI_destroy_eventset(&set), "PAPI_destroy_eventset");
    if (!quiet) printf("\t%s: %lld, %lld, after a reset %lld\n", name, first, second, third);
    if (first < 0 || second < first || third < 0) test_fail(__FILE__, __LINE__, "a value went back", PAPI_EMISC);
}

int main(int argc, char **argv)
{
    char name[PAPI_MAX_STR_LEN];
    PAPI_event_info_t info;
    int cid, code = PAPI_NATIVE_MASK, last = 0, n = 0, again, retval;

    quiet = tests_quiet(argc, argv);
    retval = PAPI_library_init(PAPI_VER_CURRENT);
    if (retval != PAPI_VER_CURRENT) test_fail(__FILE__, __LINE__, "PAPI_library_init", retval);
    cid = find_component();

    for (retval = PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, cid); retval == PAPI_OK;
         retval = PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, cid)) {
        check(PAPI_event_code_to_name(code, name), "PAPI_event_code_to_name");
        check(PAPI_get_event_info(code, &info), "PAPI_get_event_info");
        if (!strlen(info.units) || !strlen(info.long_descr))
            test_fail(__FILE__, __LINE__, "an event without unit or description", PAPI_EMISC);
        check(PAPI_event_name_to_code(name, &again), "PAPI_event_name_to_code");
        count(again, name);
        last = code;
        n++;
    }
    if (n == 0) test_skip(__FILE__, __LINE__, PAPI_get_component_info(cid)->disabled_reason, PAPI_ECMP);
    if (PAPI_event_code_to_name(last + 10000, name) == PAPI_OK)
        test_fail(__FILE__, __LINE__, "a code without an event has a name", PAPI_EMISC);
    test_pass(__FILE__);
    return 0;
}
