/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floor of `./dev bench pcp`: a PMDA that reads nothing. It answers what pmdauncore answers on
 * the stand-in machine for its per-socket counters, 8 metrics of which 3 have a value on each of 2
 * sockets, with constants. So a fetch of it takes the time of pmcd and PCP's libraries. Daemon and
 * DSO.
 */
#include <pcp/pmapi.h>
#include <pcp/pmda.h>

#include "common/macro.h"

enum { DRAM_READ, DRAM_WRITE, HBM_READ, HBM_WRITE, PMM_READ, PMM_WRITE, ITOM, SPECITOM };

static char names[][8] = { "socket0", "socket1" };
static pmdaInstid sockets[] = { { 0, names[0] }, { 1, names[1] } };
static pmdaIndom indoms[] = { { 0, ARRAY_SIZE(sockets), sockets } };

#define BYTES_COUNTER(item)                                                                        \
	{                                                                                          \
		NULL,                                                                              \
		{                                                                                  \
			PMDA_PMID(0, item), PM_TYPE_U64, 0, PM_SEM_COUNTER,                        \
				PMDA_PMUNITS(1, 0, 0, PM_SPACE_BYTE, 0, 0)                         \
		}                                                                                  \
	}

static pmdaMetric metrics[] = {
	BYTES_COUNTER(DRAM_READ),
	BYTES_COUNTER(DRAM_WRITE),
	BYTES_COUNTER(HBM_READ),
	BYTES_COUNTER(HBM_WRITE),
	BYTES_COUNTER(PMM_READ),
	BYTES_COUNTER(PMM_WRITE),
	BYTES_COUNTER(ITOM),
	BYTES_COUNTER(SPECITOM),
};

static int constant_value(pmdaMetric *metric, unsigned instance, pmAtomValue *ret)
{
	switch (pmID_item(metric->m_desc.pmid)) {
	case DRAM_READ:
	case DRAM_WRITE:
	case ITOM:
		ret->ull = 1000000000U + instance;
		return PMDA_FETCH_STATIC;
	default:
		return PMDA_FETCH_NOVALUES;
	}
}

static void serve_constants(pmdaInterface *dispatch)
{
	if (dispatch->status != 0)
		return;
	pmdaSetFetchCallBack(dispatch, constant_value);
	pmdaInit(dispatch, indoms, ARRAY_SIZE(indoms), metrics, ARRAY_SIZE(metrics));
}

/* pmcd calls this if it loads the agent instead of starting it. */
_public_ void noop_init(pmdaInterface *dispatch);

void noop_init(pmdaInterface *dispatch)
{
	pmdaDSO(dispatch, PMDA_INTERFACE_7, (char *)"noop", NULL);
	serve_constants(dispatch);
}

int main(int argc, char *argv[])
{
	static pmLongOptions long_options[] = { PMDAOPT_DOMAIN, PMDAOPT_LOGFILE, PMDA_OPTIONS_END };
	static pmdaOptions options = { .short_options = "d:l:", .long_options = long_options };
	pmdaInterface dispatch;

	pmSetProgname(argv[0]);
	pmdaDaemon(&dispatch, PMDA_INTERFACE_7, "pmdanoop", 0, "pmdanoop.log", NULL);
	pmdaGetOptions(argc, argv, &options, &dispatch);
	if (options.errors)
		return 1;
	pmdaOpenLog(&dispatch);
	serve_constants(&dispatch);
	pmdaConnect(&dispatch);
	pmdaMain(&dispatch);
	return 0;
}
