/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions, spans and meters of uncore.hpp, by a program that knows what it moved. Prints what the
 * meters say.
 */
#include <cstdlib>
#include <iostream>
#include <thread>
#include <uncore.hpp>
#include <utility>

#include "mover.h"

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	std::cerr << what << ": " << libuncore::error_text() << '\n';
	std::exit(1);
}

static void pass_regions()
{
	libuncore::region outer("outer");
	check(!outer.error(), "outer");
	mover_move(1, 0, 0);
	{
		libuncore::region inner("inner");
		mover_move(2, 0, 0);
		check(!inner.next("other"), "next");
		mover_move(3, 0, 0);
		check(outer.end() == std::errc::invalid_argument, "outer ends before other");
		check(!inner.end() && !inner.end(), "end twice");
	}
	check(libuncore::region("").error() == std::errc::invalid_argument, "no name");
}

static void pass_span()
{
	libuncore::span begun("span");
	check(!begun.error(), "span");
	std::thread([span = std::move(begun)]() mutable {
		mover_move(4, 1, 0);
		check(!span.end(), "end of a span in another thread");
	}).join();
	libuncore::span first("span"), second("span");
	first = std::move(second);
}

static void measure()
{
	libuncore::meter meter;
	check(meter.stop() == std::errc::invalid_argument, "a meter that was not started");
	std::cout << meter.why(0, "dram.read") << '\n';
	for (int lines : { 10, 20 }) {
		check(!meter.start(), "start");
		mover_move(static_cast<std::uint64_t>(lines), 1, 1);
		check(!meter.stop(), "stop");
		std::cout << *meter.count(0, "dram.write") << ' ' << *meter.count(1, "dram.write")
			  << ' ' << *meter.count("dram.write") << ' '
			  << meter.quality(1, "dram.write") << '\n';
	}
	check(!meter.count(0, "hbm.read") && !meter.count("hbm.read"), "hbm.read is absent");
	check(!meter.count(2, "dram.read") && !meter.count(0, "none"), "no such value");
	check(meter.seconds(0) > 0 && meter.error_bound(0) < 1, "window");
	std::cout << meter.why(0, "hbm.read") << '\n';
}

static void without_uncored()
{
	libuncore::meter meter("/nonexistent/socket");
	check(meter.start() == std::errc::no_such_file_or_directory, "no uncored");
	std::cout << libuncore::error_text() << '\n';
}

/* In C++ `uncore_delta d` would name the function. */
static void use_types()
{
	libuncore::sample before, after;
	libuncore::delta difference;
	libuncore::machine machine;
	std::string json;
	struct uncore *handle = nullptr;

	check(uncore_open(nullptr, &handle) == 0 && uncore_describe(handle, &machine) == 0, "open");
	check(uncore_read(handle, 0, UNCORE_FRESH, &before) == 0, "before");
	mover_move(5, 0, 0);
	check(uncore_read(handle, 0, UNCORE_FRESH, &after) == 0, "after");
	check(uncore_delta(&before, &after, &difference) == 0, "delta");
	std::cout << machine.platform << ' ' << difference.values[0].count << '\n';
	uncore_close(handle);
	check(!libuncore::info(json) && json.front() == '{', "info");
}

int main()
{
	pass_regions();
	pass_span();
	measure();
	without_uncored();
	use_types();
	return 0;
}
