// SPDX-License-Identifier: BSD-3-Clause
// The functions and classes of Caliper that begin and end something, of the same names, for tests
// without Caliper.
#pragma once

#include <cstdint>

extern "C" {
using cali_id_t = std::uint64_t;
extern cali_id_t cali_loop_attr_id;

cali_id_t cali_create_attribute(const char *name, int type, int properties);
cali_id_t cali_find_attribute(const char *name);
const char *cali_attribute_name(cali_id_t id);
int cali_attribute_properties(cali_id_t id);

void cali_begin_region(const char *name);
void cali_end_region(const char *name);
void cali_begin_phase(const char *name);
void cali_end_phase(const char *name);
void cali_begin_comm_region(const char *name);
void cali_end_comm_region(const char *name);

void cali_begin(cali_id_t id);
void cali_begin_double(cali_id_t id, double value);
void cali_begin_int(cali_id_t id, int value);
void cali_begin_string(cali_id_t id, const char *value);
void cali_set_int(cali_id_t id, int value);
void cali_end(cali_id_t id);

void cali_begin_byname(const char *name);
void cali_begin_double_byname(const char *name, double value);
void cali_begin_int_byname(const char *name, int value);
void cali_begin_string_byname(const char *name, const char *value);
void cali_end_byname(const char *name);
}

enum { CALI_TYPE_INT = 1, CALI_TYPE_STRING = 4, CALI_ATTR_DEFAULT = 0, CALI_ATTR_NESTED = 256 };

namespace cali
{
class Function
{
      public:
	explicit Function(const char *name);
	~Function();
};

class ScopeAnnotation
{
      public:
	explicit ScopeAnnotation(const char *name);
	~ScopeAnnotation();
};

class Loop
{
	struct Impl;
	Impl *impl;

      public:
	class Iteration
	{
		const Impl *impl;

	      public:
		Iteration(const Impl *impl, int number);
		~Iteration();
	};

	explicit Loop(const char *name);
	Loop(const Loop &other);
	~Loop();
	Iteration iteration(int number) const;
	void end();
};
} // namespace cali
