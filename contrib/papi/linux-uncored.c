/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file    linux-uncored.c
 * @ingroup papi_components
 * @brief uncored component
 *
 *  Memory traffic of each CPU socket, as the daemon uncored counts it. Users
 *  need no privilege: uncored owns the counters, and libuncore reads what it
 *  publishes. README.md says what the events and the errors mean.
 *
 *  libuncore is opened by dlopen(), and uncored is connected to, when an event
 *  of this component is first asked for (PAPI_EDELAY_INIT). Each thread has a
 *  connection of its own, so that one that has ended is replaced without a lock.
 *  A value is the difference of two readings of libuncore's samples; libuncore
 *  refuses a difference across a loss of counts. The timer's signal handler
 *  (PAPI_overflow) only copies what was published last, into a reading of its
 *  own. It may interrupt every other function for the same event set: these
 *  change what it reads by single stores.
 */

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <uncore.h>

#include "papi.h"
#include "papi_internal.h"
#include "papi_vector.h"
#include "papi_memory.h"
#include "extras.h"

#ifndef PAPI_UNCORED_MAIN
#define PAPI_UNCORED_MAIN "libuncore.so.0"
#endif

#define UNCORED_MAX_COUNTERS (512) /* events of an event set */
#define UNCORED_MAX_SOCKETS (64)   /* bits of uncored_control_t.wanted */
#define UNCORED_NONE UINT32_MAX    /* no socket: the sum of all; no channel: of all */
#define UNCORED_MISSING (UNCORE_PARTIAL | UNCORE_RESET)
#define UNCORED_IS_OF(event, s) ((event)->socket == (s) || (event)->socket == UNCORED_NONE)
#define UNCORED_EVENTS(info) ((info)->n_metrics * ((info)->n_sockets + 1) + (info)->n_channels)
#define UNUSED __attribute__((unused))

papi_vector_t _uncored_vector;

#define UNCORED_FUNCTIONS(X) \
    X(open) X(close) X(error_text) X(describe) X(describe_socket) X(describe_channel) \
    X(metric_name) X(metric_unit) X(quality_words) X(read) X(read_all) X(read_channels) X(delta)
#define UNCORED_POINTER(name) __typeof__(&uncore_##name) name;
#define UNCORED_FIND(name) \
    if (!(lib.name = (__typeof__(lib.name)) dlsym(library, "uncore_" #name))) return dlerror();

static struct {
    UNCORED_FUNCTIONS(UNCORED_POINTER)
} lib; /* stays loaded to the end of the process */

/* NULL, or why libuncore cannot be used. */
static const char *load_library(void)
{
    void *library = dlopen(PAPI_UNCORED_MAIN, RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
    UNCORED_FUNCTIONS(UNCORED_FIND)
    return NULL;
}

/* PAPI's error for one of libuncore's, which errno keeps. */
static int papi_error(int error)
{
    if (error == 0) return PAPI_OK;
    errno = -error;
    if (error == -ESTALE || error == -ENODATA) return PAPI_ECLOST;
    if (error == -EPERM || error == -EACCES) return PAPI_EPERM;
    return error == -ENOMEM ? PAPI_ENOMEM : PAPI_ESYS;
}

typedef struct {
    char name[PAPI_MAX_STR_LEN], unit[PAPI_MIN_STR_LEN], descr[PAPI_HUGE_STR_LEN];
    uint32_t metric, socket, channel; /* UNCORED_NONE: see there */
    uint32_t quality;                 /* flags at first use; with UNCORE_ABSENT PAPI does not list it */
} uncored_event_t;

static struct { /* as it was at first use */
    struct uncore_machine info;
    struct uncore_socket sockets[UNCORED_MAX_SOCKETS];
    uncored_event_t *events; /* of each metric its sockets and their sum, then the channels */
    uint32_t n_events;
} machine;
static uint64_t max_age_ns;

/* What uncored has at place i of the table. */
static void describe_event(const struct uncore *handle, const struct uncore_machine *info, uint32_t i,
                           uncored_event_t *event)
{
    struct uncore_channel channel = UNCORE_CHANNEL_INIT;
    uint32_t n = info->n_sockets + 1, n_of_metrics = info->n_metrics * n;
    char where[PAPI_MAX_STR_LEN] = "all";
    const char *name;

    *event = (uncored_event_t) { .metric = i / n, .socket = i % n, .channel = UNCORED_NONE };
    if (i >= n_of_metrics) {
        event->channel = i - n_of_metrics;
        lib.describe_channel(handle, event->channel, &channel);
        event->metric = channel.metric;
        event->socket = channel.socket;
        snprintf(where, sizeof(where), "socket=%u:channel=%s", channel.socket, channel.name);
    } else if (event->socket < info->n_sockets) {
        snprintf(where, sizeof(where), "socket=%u", event->socket);
    } else {
        event->socket = UNCORED_NONE;
    }
    name = lib.metric_name(handle, event->metric);
    snprintf(event->name, sizeof(event->name), "%s:%s", name, where);
    snprintf(event->unit, sizeof(event->unit), "%s", lib.metric_unit(handle, event->metric));
    snprintf(event->descr, sizeof(event->descr), "%s, %s, of all programs%s%s", name, where,
             channel.pmu ? ", counted by " : "", channel.pmu ? channel.pmu : "");
}

/* Notes the flags of an event's values. Sockets are added up only where the sum means something. */
static void note_quality(uncored_event_t *event, const struct uncore_sample samples[])
{
    const char *unit = event->unit;
    size_t length = strlen(event->descr);
    char words[PAPI_MAX_STR_LEN];
    uint32_t s;

    for (s = 0; s < machine.info.n_sockets; s++)
        if (UNCORED_IS_OF(event, s)) event->quality |= samples[s].values[event->metric].quality;
    if (event->socket == UNCORED_NONE && strcmp(unit, "bytes") && strcmp(unit, "nJ") && strcmp(unit, "count"))
        event->quality |= UNCORE_ABSENT;
    if (lib.quality_words(event->quality & ~UNCORE_ABSENT, words, sizeof(words)) > 0)
        snprintf(event->descr + length, sizeof(event->descr) - length, " [%s]", words);
}

static int list_events(const struct uncore *handle)
{
    static struct uncore_sample samples[UNCORED_MAX_SOCKETS]; /* under COMPONENT_LOCK */
    uint32_t i, n = UNCORED_EVENTS(&machine.info);
    int error;

    for (i = 0; i < machine.info.n_sockets; i++) {
        samples[i].size = sizeof(samples[i]);
        machine.sockets[i].size = sizeof(machine.sockets[i]);
        lib.describe_socket(handle, i, &machine.sockets[i]);
    }
    error = lib.read_all(handle, UNCORE_FRESH, samples, machine.info.n_sockets);
    if (error < 0) return error;
    machine.events = papi_calloc(n, sizeof(*machine.events));
    if (!machine.events) return -ENOMEM;
    for (i = 0; i < n; i++) {
        describe_event(handle, &machine.info, i, &machine.events[i]);
        note_quality(&machine.events[i], samples);
    }
    machine.n_events = n;
    return 0;
}

/* Does an uncored that was started again count the events of the table, in the same places? */
static int is_same(const struct uncore *handle)
{
    struct uncore_machine info = UNCORE_MACHINE_INIT;
    uncored_event_t event;
    uint32_t i;

    if (lib.describe(handle, &info) < 0 || UNCORED_EVENTS(&info) != machine.n_events) return 0;
    if (!memcmp(info.generation, machine.info.generation, sizeof(info.generation))) return 1;
    for (i = 0; i < machine.n_events; i++) {
        describe_event(handle, &info, i, &event);
        if (strcmp(event.name, machine.events[i].name) || strcmp(event.unit, machine.events[i].unit)) return 0;
    }
    return info.n_sockets == machine.info.n_sockets;
}

static int disable(int error, const char *why)
{
    PAPI_component_info_t *info = &_uncored_vector.cmp_info;

    snprintf(info->disabled_reason, sizeof(info->disabled_reason), "%s", why);
    return info->disabled = error;
}

static int init_machine(void)
{
    const char *why = load_library();
    struct uncore *handle = NULL;
    int error;

    if (why) return disable(PAPI_ENOSUPP, why);
    machine.info.size = sizeof(machine.info);
    error = lib.open(NULL, &handle);
    if (error == 0) error = lib.describe(handle, &machine.info);
    if (error == 0) error = machine.info.n_sockets <= UNCORED_MAX_SOCKETS ? list_events(handle) : -ENOMEM;
    lib.close(handle);
    _uncored_vector.cmp_info.num_native_events = (int) machine.n_events;
    if (error == 0) return disable(PAPI_OK, "");
    return disable(papi_error(error), error == -ENOMEM ? "Not enough memory." : lib.error_text());
}

/* Whatever needs events calls this first. */
static int check_n_initialize(void)
{
    _papi_hwi_lock(COMPONENT_LOCK);
    if (_uncored_vector.cmp_info.disabled == PAPI_EDELAY_INIT) init_machine();
    _papi_hwi_unlock(COMPONENT_LOCK);
    return _uncored_vector.cmp_info.disabled;
}

typedef struct {
    struct uncore_sample *samples;         /* of each socket; the beginning of the memory of all */
    struct uncore_channel_value *channels; /* of all sockets */
    long long *values;                     /* of each event */
} uncored_reading_t;

typedef struct { /* of a thread */
    struct uncore *volatile handle; /* NULL: not connected yet */
    volatile int in_handler;
} uncored_context_t;

typedef struct { /* of an event set */
    int n_events, has_channels;
    unsigned int events[UNCORED_MAX_COUNTERS];
    uint64_t wanted; /* bits of the sockets that are read */
    uncored_reading_t readings[3];
    uncored_reading_t *volatile zero, *now; /* change places; the third one is the handler's */
} uncored_control_t;

static int init_reading(uncored_reading_t *reading, int n_events)
{
    uint32_t i, n = machine.info.n_sockets, n_channels = machine.info.n_channels;

    reading->samples = papi_calloc(1, n * sizeof(*reading->samples) + n_channels * sizeof(*reading->channels) +
                                          n_events * sizeof(*reading->values));
    if (!reading->samples) return PAPI_ENOMEM;
    reading->channels = (void *) (reading->samples + n);
    reading->values = (void *) (reading->channels + n_channels);
    for (i = 0; i < n; i++) reading->samples[i].size = sizeof(reading->samples[i]);
    return PAPI_OK;
}

/* Replaces a thread's connection. Its uncored may be another one than before. */
static int renew(uncored_context_t *context)
{
    struct uncore *handle = NULL, *old = context->handle;
    int error = lib.open(NULL, &handle);

    if (error < 0) return error;
    lib.error_text(); /* the thread's text is allocated before a signal handler may write to it */
    error = is_same(handle) ? 0 : -ESTALE;
    if (error == 0) context->handle = handle;
    lib.close(error == 0 ? old : handle);
    return error;
}

/* What was published last; at a @now_ns, only what is not too old. No system call; without channels, no allocation. */
static int copy(const struct uncore *handle, const uncored_control_t *ctl, uint64_t now_ns,
                uncored_reading_t *reading)
{
    const struct uncore_socket *socket = machine.sockets;
    uint32_t i;
    int error = 0;

    for (i = 0; i < machine.info.n_sockets && error >= 0; i++, socket++) {
        if (!(ctl->wanted >> i & 1)) continue;
        if (ctl->has_channels)
            error = lib.read_channels(handle, i, UNCORE_CACHED, &reading->samples[i],
                                      reading->channels + socket->first_channel, socket->n_channels);
        else
            error = lib.read(handle, i, UNCORE_CACHED, &reading->samples[i]);
        if (error >= 0 && now_ns && now_ns - reading->samples[i].begin_ns > max_age_ns) error = -EAGAIN;
    }
    return error < 0 ? error : 0;
}

/* What uncored counts after this call; or, with a max_age_ns, what is no older. */
static int take(const struct uncore *handle, const uncored_control_t *ctl, uncored_reading_t *reading)
{
    int only = __builtin_ctzll(ctl->wanted), error;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (max_age_ns && copy(handle, ctl, now.tv_sec * 1000000000ULL + now.tv_nsec, reading) == 0) return 0;
    if (ctl->wanted == (uint64_t) 1 << only)
        error = lib.read(handle, (uint32_t) only, UNCORE_FRESH, &reading->samples[only]);
    else
        error = lib.read_all(handle, UNCORE_FRESH, reading->samples, machine.info.n_sockets);
    return error == 0 && ctl->has_channels ? copy(handle, ctl, 0, reading) : error;
}

/* As take(). Connects if need be: at first, after uncored has been started again, and after fork(). */
static int take_anyhow(uncored_context_t *context, const uncored_control_t *ctl, uncored_reading_t *reading)
{
    int error = context->handle ? take(context->handle, ctl, reading) : -ENOTCONN;

    if (error != -ENOTCONN && error != -EACCES && error != -EINVAL) return error;
    error = renew(context);
    return error < 0 ? error : take(context->handle, ctl, reading);
}

/* Adds what a socket, or its channel, counted of an event. -ENODATA: that is not, or not all, known. */
static int add_count(const uncored_event_t *event, const struct uncore_delta_value *delta,
                     const struct uncore_channel_value *from, const struct uncore_channel_value *to, long long *value)
{
    int is_channel = event->channel != UNCORED_NONE;
    uint64_t counted;

    if (delta->quality & (UNCORE_ABSENT | (UNCORED_MISSING & ~event->quality))) return -ENODATA;
    if (is_channel && ((from->quality | to->quality) & UNCORE_ABSENT || to->count < from->count)) return -ENODATA;
    counted = is_channel ? to->count - from->count : delta->count;
    if (counted == 0 && delta->quality & UNCORE_FROZEN) return -ENODATA; /* did nothing move, or did nobody see it? */
    *value += (long long) counted;
    return 0;
}

/* The values of all events since the zero. */
static int count(const uncored_control_t *ctl, uncored_reading_t *reading)
{
    const uncored_reading_t *zero = ctl->zero;
    uint32_t s;
    int i, error = 0;

    memset(reading->values, 0, ctl->n_events * sizeof(*reading->values));
    for (s = 0; s < machine.info.n_sockets && error == 0; s++) {
        struct uncore_delta delta = UNCORE_DELTA_INIT;
        if (!(ctl->wanted >> s & 1)) continue;
        error = lib.delta(&zero->samples[s], &reading->samples[s], &delta);
        for (i = 0; i < ctl->n_events && error == 0; i++) {
            const uncored_event_t *event = &machine.events[ctl->events[i]];
            uint32_t c = event->channel == UNCORED_NONE ? 0 : event->channel;
            if (UNCORED_IS_OF(event, s))
                error = add_count(event, &delta.values[event->metric], &zero->channels[c], &reading->channels[c],
                                  &reading->values[i]);
        }
    }
    return error;
}

static int _uncored_init_component(int cidx)
{
    const char *age = getenv("PAPI_UNCORED_MAX_AGE_MS");

    max_age_ns = age ? strtoull(age, NULL, 10) * 1000000U : 0;
    _uncored_vector.cmp_info.CmpIdx = cidx;
    _uncored_vector.cmp_info.num_native_events = -1;
    return disable(PAPI_EDELAY_INIT, "Not initialized. Access component events to initialize it.");
}

static int _uncored_shutdown_component(void)
{
    papi_free(machine.events);
    memset(&machine, 0, sizeof(machine));
    return PAPI_OK;
}

static int _uncored_shutdown_thread(hwd_context_t *ctx)
{
    uncored_context_t *context = (uncored_context_t *) ctx;
    struct uncore *handle = context->handle;

    context->handle = NULL;
    if (handle) lib.close(handle);
    return PAPI_OK;
}

static int _uncored_cleanup_eventset(hwd_control_state_t *ctl)
{
    uncored_control_t *control = (uncored_control_t *) ctl;
    int i;

    for (i = 0; i < 3; i++)
        if (control->readings[i].samples) papi_free(control->readings[i].samples);
    memset(control, 0, sizeof(*control));
    return PAPI_OK;
}

static int _uncored_update_control_state(hwd_control_state_t *ctl, NativeInfo_t *native, int n,
                                         hwd_context_t *ctx UNUSED)
{
    uncored_control_t *control = (uncored_control_t *) ctl;
    int i, error = n > UNCORED_MAX_COUNTERS ? PAPI_ECOUNT : PAPI_OK;
    uint32_t s;

    _uncored_cleanup_eventset(ctl);
    for (i = 0; i < 3 && n > 0 && error == PAPI_OK; i++) error = init_reading(&control->readings[i], n);
    for (i = 0; i < n && error == PAPI_OK; i++) {
        const uncored_event_t *event = &machine.events[native[i].ni_event];
        control->events[control->n_events++] = native[i].ni_event;
        native[i].ni_position = i;
        control->has_channels |= event->channel != UNCORED_NONE;
        for (s = 0; s < machine.info.n_sockets; s++)
            if (UNCORED_IS_OF(event, s)) control->wanted |= (uint64_t) 1 << s;
    }
    control->zero = &control->readings[0];
    control->now = &control->readings[1];
    return error;
}

/* Begins to count: PAPI_start() and PAPI_reset(). */
static int _uncored_reset(hwd_context_t *ctx, hwd_control_state_t *ctl)
{
    uncored_control_t *control = (uncored_control_t *) ctl;
    uncored_reading_t *zero = control->now;
    int error = take_anyhow((uncored_context_t *) ctx, control, zero);

    if (error < 0) return papi_error(error);
    control->now = control->zero;
    control->zero = zero;
    return PAPI_OK;
}

/* libuncore allocates memory to read channels, which a signal handler must not do. */
static int _uncored_start(hwd_context_t *ctx, hwd_control_state_t *ctl)
{
    ThreadInfo_t *thread = _papi_hwi_lookup_thread(0);
    EventSetInfo_t *set = thread ? thread->running_eventset[_uncored_vector.cmp_info.CmpIdx] : NULL;

    if (((uncored_control_t *) ctl)->has_channels && set && set->state & PAPI_OVERFLOWING) return PAPI_ENOSUPP;
    return _uncored_reset(ctx, ctl);
}

static int _uncored_stop(hwd_context_t *ctx UNUSED, hwd_control_state_t *ctl UNUSED)
{
    return PAPI_OK; /* PAPI has read before */
}

static int _uncored_read(hwd_context_t *ctx, hwd_control_state_t *ctl, long long **values, int flags UNUSED)
{
    uncored_context_t *context = (uncored_context_t *) ctx;
    uncored_control_t *control = (uncored_control_t *) ctl;
    uncored_reading_t *reading = context->in_handler ? &control->readings[2] : control->now;
    int error;

    if (context->in_handler)
        error = context->handle ? copy(context->handle, control, 0, reading) : -ENOTCONN;
    else
        error = take_anyhow(context, control, reading);
    if (error == 0) error = count(control, reading);
    *values = reading->values;
    return papi_error(error);
}

/* The handler of the timer by which PAPI emulates overflow. */
static void _uncored_dispatch_timer(int signal UNUSED, hwd_siginfo_t *info, void *uc)
{
    int cidx = _uncored_vector.cmp_info.CmpIdx, error = errno;
    _papi_hwi_context_t where = { .si = info, .ucontext = (hwd_ucontext_t *) uc };
    ThreadInfo_t *thread = _papi_hwi_lookup_thread(0);
    uncored_context_t *context;

    if (!thread) return; /* the timer is the process's, and this thread is not PAPI's */
    context = (uncored_context_t *) thread->context[cidx];
    context->in_handler++;
    _papi_hwi_dispatch_overflow_signal(&where, GET_OVERFLOW_ADDRESS(where), NULL, 0, 0, &thread, cidx);
    context->in_handler--;
    errno = error;
}

static int _uncored_set_domain(hwd_control_state_t *ctl UNUSED, int domain)
{
    return domain == PAPI_DOM_ALL ? PAPI_OK : PAPI_EINVAL;
}

static int is_listed(unsigned int code)
{
    return code < machine.n_events && !(machine.events[code].quality & UNCORE_ABSENT);
}

static int _uncored_ntv_enum_events(unsigned int *code, int modifier)
{
    int error = check_n_initialize();
    unsigned int next = modifier == PAPI_ENUM_FIRST ? 0 : *code + 1;

    if (error != PAPI_OK) return error;
    if (modifier != PAPI_ENUM_FIRST && modifier != PAPI_ENUM_EVENTS) return PAPI_EINVAL;
    while (next < machine.n_events && !is_listed(next)) next++;
    if (next < machine.n_events) *code = next;
    return next < machine.n_events ? PAPI_OK : PAPI_ENOEVNT;
}

/* PAPI asks all components about a name that says no component. That alone must not start uncored. */
static int _uncored_ntv_name_to_code(const char *name, unsigned int *code)
{
    int error = strstr(name, ":socket=") || strstr(name, ":all") ? check_n_initialize() : PAPI_ENOEVNT;
    unsigned int i = 0;

    if (error != PAPI_OK) return error;
    while (i < machine.n_events && (!is_listed(i) || strcmp(machine.events[i].name, name))) i++;
    *code = i;
    return i < machine.n_events ? PAPI_OK : PAPI_ENOEVNT;
}

static int _uncored_ntv_code_to_name(unsigned int code, char *name, int len)
{
    int error = check_n_initialize();

    if (error == PAPI_OK && !is_listed(code)) error = PAPI_ENOEVNT;
    if (error == PAPI_OK) snprintf(name, len, "%s", machine.events[code].name);
    return error;
}

static int _uncored_ntv_code_to_info(unsigned int code, PAPI_event_info_t *info)
{
    int error = _uncored_ntv_code_to_name(code, info->symbol, sizeof(info->symbol));

    if (error != PAPI_OK) return error;
    snprintf(info->long_descr, sizeof(info->long_descr), "%s", machine.events[code].descr);
    snprintf(info->units, sizeof(info->units), "%s", machine.events[code].unit);
    return PAPI_OK;
}

papi_vector_t _uncored_vector = {
    .cmp_info = {
        .name = "uncored",
        .short_name = "uncored",
        .version = "1.0",
        .description = "Memory traffic of CPU sockets, read from uncored without privilege",
        .num_cntrs = UNCORED_MAX_COUNTERS,
        .num_mpx_cntrs = UNCORED_MAX_COUNTERS,
        .default_domain = PAPI_DOM_ALL,
        .available_domains = PAPI_DOM_ALL,
        .default_granularity = PAPI_GRN_SYS,
        .available_granularities = PAPI_GRN_SYS,
    },
    .size = { sizeof(uncored_context_t), sizeof(uncored_control_t), 1, 1 },
    .init_component = _uncored_init_component, .shutdown_component = _uncored_shutdown_component,
    .shutdown_thread = _uncored_shutdown_thread,
    .init_control_state = _uncored_cleanup_eventset, /* PAPI has zeroed it */
    .cleanup_eventset = _uncored_cleanup_eventset, .update_control_state = _uncored_update_control_state,
    .start = _uncored_start, .stop = _uncored_stop, .read = _uncored_read, .reset = _uncored_reset,
    .dispatch_timer = _uncored_dispatch_timer, .set_domain = _uncored_set_domain,
    .ntv_enum_events = _uncored_ntv_enum_events, .ntv_name_to_code = _uncored_ntv_name_to_code,
    .ntv_code_to_name = _uncored_ntv_code_to_name, .ntv_code_to_info = _uncored_ntv_code_to_info,
};
