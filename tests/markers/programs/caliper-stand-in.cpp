// SPDX-License-Identifier: BSD-3-Clause
// A stand-in for libcaliper: says on stdout how it is called, and keeps nothing but names.
#include "caliper-stand-in.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace
{
struct attribute {
	std::string name;
	int properties;
};

std::vector<attribute> &attributes()
{
	static std::vector<attribute> all{ { "loop", CALI_ATTR_NESTED } };
	return all;
}

void say(const char *what, const char *name, double value = 0)
{
	std::printf("%s %s %g\n", what, name, value);
}
} // namespace

cali_id_t cali_loop_attr_id = 0;

cali_id_t cali_create_attribute(const char *name, int, int properties)
{
	attributes().push_back({ name, properties });
	return attributes().size() - 1;
}

cali_id_t cali_find_attribute(const char *name)
{
	for (cali_id_t id = 0; id < attributes().size(); id++)
		if (attributes()[id].name == name)
			return id;
	return ~cali_id_t{ 0 };
}

const char *cali_attribute_name(cali_id_t id)
{
	return id < attributes().size() ? attributes()[id].name.c_str() : nullptr;
}

int cali_attribute_properties(cali_id_t id)
{
	return id < attributes().size() ? attributes()[id].properties : 0;
}

void cali_begin_region(const char *name)
{
	say("begin_region", name);
}
void cali_end_region(const char *name)
{
	say("end_region", name);
}
void cali_begin_phase(const char *name)
{
	say("begin_phase", name);
}
void cali_end_phase(const char *name)
{
	say("end_phase", name);
}
void cali_begin_comm_region(const char *name)
{
	say("begin_comm_region", name);
}
void cali_end_comm_region(const char *name)
{
	say("end_comm_region", name);
}

void cali_begin(cali_id_t id)
{
	say("begin", cali_attribute_name(id));
}
void cali_begin_double(cali_id_t id, double value)
{
	say("begin_double", cali_attribute_name(id), value);
}
void cali_begin_int(cali_id_t id, int value)
{
	say("begin_int", cali_attribute_name(id), value);
}
void cali_begin_string(cali_id_t, const char *value)
{
	say("begin_string", value);
}
void cali_set_int(cali_id_t id, int value)
{
	say("set_int", cali_attribute_name(id), value);
}
void cali_end(cali_id_t id)
{
	say("end", cali_attribute_name(id));
}

void cali_begin_byname(const char *name)
{
	say("begin_byname", name);
}
void cali_begin_double_byname(const char *name, double value)
{
	say("begin_double_byname", name, value);
}
void cali_begin_int_byname(const char *name, int value)
{
	say("begin_int_byname", name, value);
}
void cali_begin_string_byname(const char *name, const char *value)
{
	say(name, value);
}
void cali_end_byname(const char *name)
{
	say("end_byname", name);
}

namespace cali
{
Function::Function(const char *name)
{
	say("Function", name);
}
Function::~Function()
{
	say("~Function", "");
}
ScopeAnnotation::ScopeAnnotation(const char *name)
{
	say("ScopeAnnotation", name);
}
ScopeAnnotation::~ScopeAnnotation()
{
	say("~ScopeAnnotation", "");
}

struct Loop::Impl {
	std::string name;
	int level, owners;
};

Loop::Loop(const char *name) : impl(new Impl{ name, 1, 1 })
{
	say("Loop", name);
}
Loop::Loop(const Loop &other) : impl(other.impl)
{
	impl->owners++;
}

void Loop::end()
{
	if (impl->level > 0)
		say("Loop::end", impl->name.c_str());
	impl->level = 0;
}

Loop::~Loop()
{
	if (--impl->owners > 0)
		return;
	end();
	delete impl;
}

Loop::Iteration::Iteration(const Impl *loop, int number) : impl(loop)
{
	say("Iteration", loop->name.c_str(), number);
}
Loop::Iteration::~Iteration()
{
	say("~Iteration", impl->name.c_str());
}
Loop::Iteration Loop::iteration(int number) const
{
	return Iteration(impl, number);
}
} // namespace cali
