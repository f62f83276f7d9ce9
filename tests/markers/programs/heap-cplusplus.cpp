// SPDX-License-Identifier: BSD-3-Clause
// What C++ allocates comes by malloc(3).
#include <cstdio>
#include <vector>

#include "client/libuncore/uncore.h"

struct alignas(128) Line {
	char bytes[128];
};

int main()
{
	uncore_region_begin("fill");
	std::vector<double> values(300000, 1.0);
	Line *lines = new Line[10000];
	auto *gone = new char[5 << 20];
	asm("" : "+r"(gone));
	delete[] gone;
	uncore_region_end("fill");
	std::printf("%g %d\n", values[7], lines[1].bytes[3] != 0);
	delete[] lines;
}
