/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/export/export-body.h"

#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>

#include "common/clock.h"
#include "common/macro.h"

static const uint64_t FRESH_NS = UINT64_C(1000000000);

int export_body_init(struct export_body *body, const struct export_wish *wish)
{
	*body = (struct export_body){ .wish = *wish };
	body->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return body->done_fd < 0 ? -errno : 0;
}

bool export_body_is_fresh(const struct export_body *body)
{
	return body->text && clock_now_ns() - body->made_ns < FRESH_NS;
}

static int body_write_text(struct export_body *body, const struct export_reading *reading)
{
	FILE *out = open_memstream(&body->next_text, &body->next_n_bytes);

	if (!out)
		return -ENOMEM;
	export_prometheus(out, reading);
	return fclose(out) == EOF ? -ENOMEM : 0;
}

/* Sets no text if memory runs out. */
static void *body_make_text(void *argument)
{
	struct export_body *body = argument;
	_cleanup_(export_reading_done) struct export_reading reading;

	export_reading_take(&body->wish, &reading);
	if (body_write_text(body, &reading) < 0)
		free(take_ptr(body->next_text));
	eventfd_write(body->done_fd, 1);
	return NULL;
}

void export_body_begin(struct export_body *body)
{
	if (body->is_busy)
		return;
	body->is_busy = true;
	if (pthread_create(&body->thread, NULL, body_make_text, body) == 0)
		return;
	body->thread = pthread_self();
	body_make_text(body);
}

static void end_reading(struct export_body *body)
{
	eventfd_t n;

	if (body->is_busy && !pthread_equal(body->thread, pthread_self()))
		pthread_join(body->thread, NULL);
	body->is_busy = false;
	eventfd_read(body->done_fd, &n);
}

void export_body_finish(struct export_body *body)
{
	end_reading(body);
	free(body->text);
	body->text = take_ptr(body->next_text);
	body->n_bytes = body->next_n_bytes;
	body->made_ns = clock_now_ns();
}

void export_body_done(struct export_body *body)
{
	end_reading(body);
	free(take_ptr(body->text));
	free(take_ptr(body->next_text));
	close_fd(&body->done_fd);
}
