// SPDX-License-Identifier: BSD-3-Clause
// One of each of Caliper's marks. Each moves another number of lines, which the test adds up.
// Compiled with -DCALIPER="<caliper/cali.h>" it is a program of Caliper.
#ifndef CALIPER
#define CALIPER "caliper-stand-in.hpp"
#endif
#include CALIPER

#include "mover.h"

namespace
{
void move(unsigned lines)
{
	mover_move(lines, 0, 0);
}

void in_c()
{
	cali_begin_region("region");
	move(1);
	cali_begin_phase("phase");
	move(2);
	cali_begin_comm_region("comm");
	move(4);
	cali_end_comm_region("comm");
	cali_end_phase("phase");
	cali_end_region("region");
}

// What CALI_MARK_LOOP_BEGIN and its companions are made of.
void loop_in_c(cali_id_t iterations)
{
	cali_begin_string(cali_loop_attr_id, "c-loop");
	for (int i = 0; i < 3; i++) {
		cali_begin_int(iterations, i);
		move(8);
		cali_end(iterations);
	}
	move(16);
	cali_end(cali_loop_attr_id);
}

void by_name()
{
	cali_begin_byname("flag");
	move(32);
	cali_begin_string_byname("solver", "cg");
	move(64);
	cali_begin_int_byname("level", 7);
	move(128);
	cali_begin_double_byname("tolerance", 0.5);
	move(256);
	cali_end_byname("tolerance");
	cali_end_byname("level");
	cali_end_byname("solver");
	cali_end_byname("flag");
}

// An attribute that was only set has no begin. One that nests, and has a text, is a region as it
// is.
void attributes()
{
	cali_id_t step = cali_create_attribute("step", CALI_TYPE_INT, CALI_ATTR_DEFAULT);
	cali_id_t kernel = cali_create_attribute("kernel", CALI_TYPE_STRING, CALI_ATTR_NESTED);

	cali_begin_string(kernel, "daxpy");
	cali_set_int(step, 1);
	move(512);
	cali_end(step);
	move(512);
	cali_end(kernel);
}

void function()
{
	cali::Function mark(__func__);
	move(1 << 10);
	{
		cali::ScopeAnnotation scope("scope");
		move(1 << 11);
	}
}

// The second loop is ended by its destructor. A copy, as of a lambda, ends nothing.
void loops()
{
	cali::Loop first("first");
	for (int i = 0; i < 2; i++) {
		cali::Loop::Iteration mark(first.iteration(i));
		move(1 << 12);
	}
	first.end();
	cali::Loop second("second");
	auto body = [second](int i) {
		cali::Loop::Iteration mark(second.iteration(i));
		move(1 << 13);
	};
	body(0);
	move(1 << 14);
}
} // namespace

int main()
{
	in_c();
	loop_in_c(cali_create_attribute("iteration#c-loop", CALI_TYPE_INT, CALI_ATTR_DEFAULT));
	by_name();
	attributes();
	function();
	loops();
	move(1 << 20);
}
