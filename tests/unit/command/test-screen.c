/* SPDX-License-Identifier: BSD-3-Clause */
/* What `uncore top` shows: its text at several sizes, without a terminal. */
#include <math.h>
#include <string.h>

#include "client/command/top/screen.h"
#include "common/macro.h"
#include "common/text.h"
#include "tests/harness/test.h"

enum { SOCKETS_MAX = 8, MACHINE_MAX = 2 * SOCKETS_MAX, VALUES = 6, TEXT_MAX = 1 << 16 };

/* A machine, of which cases change what they are about. */
struct machine {
	struct format_socket shown[MACHINE_MAX];
	struct courses courses;
	struct screen_others others;
	struct screen screen;
	char text[TEXT_MAX];
};

static const struct screen_form big = { 80, 24, true, false };

static void set_rate(struct format_socket *socket, const char *name, double rate)
{
	struct format_value *value = (struct format_value *)format_find(socket, name);

	assert_non_null(value);
	value->rate = rate;
}

static void take_away(struct format_socket *socket, const char *name, const char *why)
{
	struct format_value *value = (struct format_value *)format_find(socket, name);

	assert_non_null(value);
	value->quality |= UNCORE_ABSENT;
	value->why = why;
}

/* Adds an interval of one second. */
static void pass(struct machine *machine, uint64_t second)
{
	courses_add(&machine->courses, machine->shown, (second - 1) * 1000000000,
		second * 1000000000 - 1);
}

static void fill(struct format_socket *socket, uint32_t number)
{
	*socket = (struct format_socket){
		.socket = number,
		.package = number,
		.n_values = VALUES,
		.window_ns = 1000000000,
		.skew_ns = 100000,
		.values = { { .name = "dram.read", .unit = "bytes" },
			{ .name = "dram.write", .unit = "bytes" },
			{ .name = "dram.total", .unit = "bytes" },
			{ .name = "hbm.read",
				.unit = "bytes",
				.quality = UNCORE_ABSENT,
				.why = "no such memory" },
			{ .name = "hbm.write",
				.unit = "bytes",
				.quality = UNCORE_ABSENT,
				.why = "no such memory" },
			{ .name = "energy", .unit = "nJ", .rate = 45.25 } },
	};
	set_rate(socket, "dram.read", 100 + number);
	set_rate(socket, "dram.write", 50);
	set_rate(socket, "dram.total", 150 + number);
}

/* @n_sockets, and as many parts. */
static struct machine *set_up(uint32_t n_sockets, bool has_parts)
{
	struct machine *machine = calloc(1, sizeof *machine);

	assert_non_null(machine);
	for (uint32_t i = 0; i < n_sockets; i++) {
		fill(&machine->shown[i], i);
		fill(&machine->shown[n_sockets + i], i);
		machine->shown[n_sockets + i].part = "node7";
	}
	assert_int_equal(
		courses_resize(&machine->courses, n_sockets, has_parts ? n_sockets : 0), 0);
	machine->screen = (struct screen){
		.host = "node17",
		.platform = "icelake-sp",
		.time = "03:12:46",
		.failure = "",
		.interval_ns = 500000000,
		.n_sockets = n_sockets,
		.n = machine->courses.n,
		.shown = machine->shown,
		.courses = machine->courses.all,
		.others = &machine->others,
	};
	pass(machine, 1000);
	return machine;
}

static void free_machine(struct machine **machine)
{
	courses_done(&(*machine)->courses);
	free(*machine);
}

#define MACHINE _cleanup_(free_machine) struct machine

/* How many columns a line has, which ends with a newline. */
static unsigned columns(const char *line)
{
	unsigned n = 0;

	for (; *line != '\n'; n++) {
		assert_true(text_plain_bytes(line) > 0);
		line += text_plain_bytes(line);
	}
	return n;
}

/* Writes the text, which must fit. Returns the number of lines. */
static unsigned draw(struct machine *machine, const struct screen_form *form)
{
	FILE *out = fmemopen(machine->text, TEXT_MAX, "w");
	unsigned n = 0;

	assert_non_null(out);
	screen_write(out, &machine->screen, form);
	fclose(out);
	for (const char *line = machine->text; *line; line = strchr(line, '\n') + 1, n++)
		assert_true(columns(line) <= form->width);
	return n;
}

static void expect(const struct machine *machine, const char *part)
{
	if (!strstr(machine->text, part))
		fail_msg("no \"%s\" in:\n%s", part, machine->text);
}

static void refuse(const struct machine *machine, const char *part)
{
	if (strstr(machine->text, part))
		fail_msg("\"%s\" in:\n%s", part, machine->text);
}

CASE("a screen is as it was looked at")
{
	static const char text[] =
		"uncore top  03:12:46  every 0.5 s  node17  icelake-sp\n"
		"\n"
		"socket 0           read     write     total GB/s  good +- 0.01 %\n"
		"   dram         100.000    50.000   150.000 [###########=====]   99 % of 151.0\n"
		"   last 60 s                                                             #\n"
		"   also energy 45.250 W\n"
		"   absent: hbm.read, hbm.write (no such memory)\n"
		"\n"
		"socket 1           read     write     total GB/s  good +- 0.01 %\n"
		"   dram         101.000    50.000   151.000 [###########=====]  100 % of 151.0\n"
		"   last 60 s                                                             #\n"
		"   also energy 45.250 W\n"
		"\n"
		"# read = write; %: of the highest yet\n"
		"\n\n\n\n\n\n\n\n\n"
		"q quit  space pause  + - interval  c channels  s sort  h help\n";
	MACHINE *machine = set_up(2, false);

	assert_int_equal(draw(machine, &(struct screen_form){ 80, 24, false, false }), 24);
	assert_string_equal(machine->text, text);
}

CASE("every size has as many lines as the screen, none of them too wide, with all sockets and keys")
{
	static const struct screen_form forms[] = { { 80, 24 }, { 40, 10 }, { 200, 60 },
		{ 80, 12 } };

	for (uint32_t n = 1; n <= SOCKETS_MAX; n += SOCKETS_MAX - 1)
		for (size_t i = 0; i < 2 * ARRAY_SIZE(forms); i++) {
			struct screen_form form = forms[i / 2];
			MACHINE *machine = set_up(n, false);

			form.utf8 = i % 2;
			assert_int_equal(draw(machine, &form), form.height);
			expect(machine, "q quit");
			if (n == 1 || form.height > 10)
				expect(machine,
					form.utf8 ? "█ read ▒ write; %: of the highest yet\n"
						  : "# read = write; %: of the highest yet\n");
			expect(machine, form.width < 60 ? "  100.0   50.0" : "100.000    50.000");
			if (n > 1 && form.height > 10)
				expect(machine, form.width < 60 ? "  107.0" : "   107.000");
			for (const char *c = machine->text; !form.utf8 && *c; c++)
				assert_true((unsigned char)*c < 0x80);
		}
}

CASE("where there is no room for all, the screen says so")
{
	MACHINE *machine = set_up(SOCKETS_MAX, true);

	assert_int_equal(draw(machine, &(struct screen_form){ 80, 10, true, false }), 10);
	expect(machine, "and more, for which there is no room\nq quit");
	assert_int_equal(draw(machine, &(struct screen_form){ 200, 60, true, false }), 60);
	refuse(machine, "and more");
	for (unsigned height = 1; height < 5; height++)
		assert_int_equal(
			draw(machine, &(struct screen_form){ 7, height, true, false }), height);
}

CASE("a terminal without a screen gets all lines, and no keys")
{
	MACHINE *machine = set_up(SOCKETS_MAX, true);

	draw(machine, &(struct screen_form){ 80, 0, false, false });
	expect(machine, "socket 7");
	expect(machine, "of the highest yet\n");
	refuse(machine, "q quit");
	refuse(machine, "\033");
}

CASE("a bar is full at the validated peak, or at the highest rate of all sockets so far")
{
	MACHINE *machine = set_up(2, true);

	draw(machine, &big);
	expect(machine, "]   99 % of 151.0\n");
	expect(machine, "]  100 % of 151.0\n");
	refuse(machine, "validate");
	machine->courses.all[0].peak = machine->courses.all[1].peak = 300;
	pass(machine, 1001);
	draw(machine, &big);
	expect(machine, "]   50 %v of 300.0\n");
	expect(machine, "node7"); /* of whose channels no peak is known */
	expect(machine, "v: of validated peak, else of the highest yet");
	machine->screen.n = 2;
	draw(machine, &big);
	expect(machine, "v: of validated peak\n");
}

CASE("what is absent has a reason and no figure, also where another socket has it")
{
	MACHINE *machine = set_up(2, false);

	take_away(&machine->shown[1], "dram.read", "the box is gone");
	take_away(&machine->shown[1], "dram.total", "the box is gone");
	draw(machine, &big);
	expect(machine, "   dram               -    50.000         -\n");
	expect(machine, "absent: dram.read, dram.total (the box is gone)");
	take_away(&machine->shown[1], "dram.write", "the box is gone");
	draw(machine, &big);
	expect(machine, "   dram       absent: the box is gone\n");
	refuse(machine, "  0.000");
	expect(machine, "absent: hbm.read, hbm.write (no such memory)");
	refuse(machine, "   hbm ");
}

CASE("a socket's quality is in words, also where it has no heading")
{
	MACHINE *machine = set_up(SOCKETS_MAX, false);

	machine->shown[3].values[0].quality = UNCORE_PARTIAL | UNCORE_ESTIMATED;
	draw(machine, &(struct screen_form){ 80, 60, true, false });
	expect(machine, "GB/s  estimated,partial +- 0.01 %\n");
	expect(machine, "GB/s  good +- 0.01 %\n");
	draw(machine, &(struct screen_form){ 80, 12, true, false });
	expect(machine, "\nestimated,partial; █ read");
}

CASE("numbers that are not memory traffic of this machine are called so")
{
	MACHINE *machine = set_up(1, false);

	machine->screen.platform = "simulated";
	draw(machine, &(struct screen_form){ 40, 10, true, false });
	expect(machine, "\nSIMULATED: ");
}

CASE("the sockets stand in the order of their numbers, or the busiest one first")
{
	MACHINE *machine = set_up(3, false);

	draw(machine, &big);
	assert_true(strstr(machine->text, "socket 0") < strstr(machine->text, "socket 2"));
	machine->screen.by_rate = true;
	draw(machine, &big);
	assert_true(strstr(machine->text, "socket 2") < strstr(machine->text, "socket 1"));
	assert_true(strstr(machine->text, "socket 1") < strstr(machine->text, "socket 0"));
}

CASE("a course has the highest rate of each second, and a blank where there was none")
{
	MACHINE *machine = set_up(1, false);

	set_rate(&machine->shown[0], "dram.total", 0);
	pass(machine, 1003);
	set_rate(&machine->shown[0], "dram.total", 75);
	pass(machine, 1004);
	set_rate(&machine->shown[0], "dram.total", 10);
	courses_add(&machine->courses, machine->shown, 1003100000000, 1003900000000);
	draw(machine, &big);
	expect(machine, "█  ▁▅\n");
	courses_add(&machine->courses, machine->shown, 1098000000000, 1100000000000);
	draw(machine, &big);
	expect(machine, "   ▁▁▁\n");
	refuse(machine, "▅");
}

CASE("who else is here is shown where there is room")
{
	MACHINE *machine = set_up(1, false);

	strcpy(machine->others.line, "owner: alice   jobs: 4711 (alice)   3 clients");
	strcpy(machine->others.warning, "A box does not count.");
	machine->others.n_users = 1;
	machine->others.users[0] = (struct screen_user){ "alice (1001)", 3, 4.04, 0.126 };
	draw(machine, &big);
	expect(machine, "\nA box does not count.\nowner: alice   jobs: 4711 (alice)   3 clients\n");
	expect(machine, "alice (1001)                        3      4.0     0.13\n");
	draw(machine, &(struct screen_form){ 40, 10, true, false });
	refuse(machine, "alice");
}

CASE("a pause, a site's interval, help and a failure are told")
{
	MACHINE *machine = set_up(1, false);

	machine->screen.is_paused = machine->screen.is_held = true;
	draw(machine, &big);
	expect(machine, "uncore top  PAUSED  03:12:46  every 0.5 s, as the site demands  node17");
	machine->screen.is_help = true;
	draw(machine, &big);
	expect(machine, "space   pause");
	refuse(machine, "100.000");
	machine->screen.is_help = false;
	machine->screen.failure = "uncored does not listen on /run/uncored/socket: is it running?";
	draw(machine, &(struct screen_form){ 40, 10, true, false });
	expect(machine,
		"\nuncored does not listen on\n/run/uncored/socket: is it running?\nIt is asked "
		"again every second.\n");
	refuse(machine, "100.0");
}

CASE("before an interval has passed there are no figures")
{
	MACHINE *machine = set_up(1, false);

	machine->screen.n = machine->screen.n_sockets = 0;
	assert_int_equal(draw(machine, &big), 24);
	expect(machine, "The first figures come after one interval.");
}

CASE("colours are escape sequences and change no column")
{
	MACHINE *machine = set_up(1, false);
	char *end = machine->text, *at;
	FILE *out;

	machine->courses.all[0].peak = 160;
	pass(machine, 1001);
	out = fmemopen(machine->text, TEXT_MAX, "w");
	assert_non_null(out);
	screen_write(out, &machine->screen, &(struct screen_form){ 80, 24, true, true });
	fclose(out);
	expect(machine, "\033[31m[█");
	for (at = machine->text; *at; at++) {
		while (*at == '\033')
			at = strchr(at, 'm') + 1;
		*end++ = *at;
	}
	*end = '\0';
	at = strdup(machine->text);
	draw(machine, &big);
	assert_string_equal(machine->text, at);
	free(at);
}
