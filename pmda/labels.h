/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels: name-value pairs that tools such as pmproxy attach to metrics and instances. */
#pragma once

#include <pcp/pmapi.h>
#include <pcp/pmda.h>

#include "pmda/view.h"

/* Adds the labels of the domain, an instance domain or a metric. @platform "": not known yet. */
int labels_add(int ident, int type, const char *platform, pmLabelSet **ret);

/* pmdaLabel()'s callback: adds the labels of an instance. */
int labels_of_instance(pmInDom indom, unsigned inst, pmLabelSet **ret);
