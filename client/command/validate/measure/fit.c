/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/fit.h"

#include <math.h>

/* Sums of the normal equations of: share read x reads + share written x writes = share shown. */
struct sums {
	double rr, rw, ww, rs, ws;
};

static void add(struct sums *sums, double read, double written, double shown)
{
	sums->rr += read * read;
	sums->rw += read * written;
	sums->ww += written * written;
	sums->rs += read * shown;
	sums->ws += written * shown;
}

/* Gives every kernel the same weight, however many bytes it moves. */
static void shares(const struct measured *kernel, uint32_t series, double ret[3])
{
	double total = measured_total(kernel);

	ret[0] = kernel->predicted.read / total;
	ret[1] = kernel->predicted.written / total;
	ret[2] = kernel->bytes[series] / total;
}

static bool solve(const struct sums *sums, struct fit *ret)
{
	double determinant = sums->rr * sums->ww - sums->rw * sums->rw;

	if (determinant < 1e-6)
		return false;
	ret->reads = (sums->rs * sums->ww - sums->ws * sums->rw) / determinant;
	ret->writes = (sums->ws * sums->rr - sums->rs * sums->rw) / determinant;
	/* The larger of the two variances, for an error of 1 at each kernel. */
	ret->error = sqrt(fmax(sums->rr, sums->ww) / determinant);
	return true;
}

bool fit_series(
	const struct measured *const kernels[], unsigned n, uint32_t series, struct fit *ret)
{
	struct sums sums = { 0 };
	double error = 0, share[3];

	*ret = (struct fit){ 0 };
	for (unsigned i = 0; i < n; i++) {
		shares(kernels[i], series, share);
		add(&sums, share[0], share[1], share[2]);
		error = fmax(error, kernels[i]->errors[series] / measured_total(kernels[i]));
	}
	if (!solve(&sums, ret))
		return false;
	for (unsigned i = 0; i < n; i++) {
		shares(kernels[i], series, share);
		ret->misfit = fmax(ret->misfit,
			fabs(share[0] * ret->reads + share[1] * ret->writes - share[2]));
	}
	ret->error *= error;
	return true;
}
