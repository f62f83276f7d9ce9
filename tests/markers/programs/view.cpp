/* SPDX-License-Identifier: BSD-3-Clause */
/* Views of N bytes, for whose kernels the traffic is known: view N. */
#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ProfileSection.hpp>
#include <cstdio>
#include <cstdlib>

static double work(int n)
{
	Kokkos::View<double *> a("a", n);
	Kokkos::View<double *> b(Kokkos::view_alloc(Kokkos::WithoutInitializing, "b"), n);
	Kokkos::Profiling::ProfilingSection section("section");
	double sum = 0;

	Kokkos::Profiling::pushRegion("setup");
	Kokkos::parallel_for(
		"fill", n, KOKKOS_LAMBDA(int i) { a(i) = i; });
	Kokkos::Profiling::popRegion();
	section.start();
	Kokkos::deep_copy(b, a);
	Kokkos::fence();
	for (int k = 0; k < 3; k++)
		Kokkos::parallel_reduce(
			"sum", n, KOKKOS_LAMBDA(int i, double &s) { s += b(i); }, sum);
	section.stop();
	Kokkos::parallel_for(
		n, KOKKOS_LAMBDA(int i) { a(i) = 1; });
	return sum;
}

int main(int argc, char **argv)
{
	double sum;

	Kokkos::initialize(argc, argv);
	sum = work(std::atoi(argv[1]) / (int)sizeof sum);
	Kokkos::finalize();
	std::printf("%g\n", sum);
	return 0;
}
