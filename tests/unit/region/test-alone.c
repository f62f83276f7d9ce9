/* SPDX-License-Identifier: BSD-3-Clause */
/* Which region was alone between two looks. */
#include "client/region/alone.h"

#include "tests/harness/test.h"

enum { MEMBERS = 3, SOLVE = 1, HALO = 2 };

static struct table *team_new(void)
{
	struct table *table = table_new();

	assert_non_null(table);
	for (unsigned i = 0; i < MEMBERS; i++)
		table->slots[i].state = TABLE_JOINED;
	table->header.n_slots = MEMBERS;
	return table;
}

/* Was @region alone from @look until now? */
static bool was_alone(const struct table *table, const struct alone_look *look, unsigned region)
{
	return look->region == region && alone_count_others(table, region) == look->others;
}

CASE("own passages leave a region alone")
{
	struct table *table = team_new();
	struct alone_look look;

	alone_enter(table, 0, SOLVE);
	look = alone_look(table, ALONE_NOBODY);
	alone_enter(table, 1, SOLVE);
	alone_leave(table, 0, SOLVE);
	assert_true(was_alone(table, &look, SOLVE));
	assert_false(was_alone(table, &look, HALO));
	table_unmap(table);
}

CASE("a short passage of another is seen")
{
	struct table *table = team_new();
	struct alone_look look;

	alone_enter(table, 0, SOLVE);
	look = alone_look(table, ALONE_NOBODY);
	alone_enter(table, 2, HALO);
	alone_leave(table, 2, HALO);
	assert_false(was_alone(table, &look, SOLVE));
	table_unmap(table);
}

CASE("two open regions are not alone")
{
	struct table *table = team_new();
	struct alone_look look;

	alone_enter(table, 0, SOLVE);
	alone_enter(table, 1, HALO);
	look = alone_look(table, SOLVE);
	assert_int_equal(look.region, ALONE_NOBODY);
	assert_false(look.is_empty);
	table_unmap(table);
}

CASE("a nested region is alone and the outer one is not")
{
	struct table *table = team_new();
	struct alone_look look;

	alone_enter(table, 0, SOLVE);
	alone_leave(table, 0, SOLVE);
	alone_enter(table, 0, HALO);
	look = alone_look(table, ALONE_NOBODY);
	assert_true(was_alone(table, &look, HALO));
	alone_leave(table, 0, HALO);
	alone_enter(table, 0, SOLVE);
	assert_false(was_alone(table, &look, HALO));
	look = alone_look(table, HALO);
	assert_true(was_alone(table, &look, SOLVE));
	table_unmap(table);
}

CASE("no region is open before the first and after the last")
{
	struct table *table = team_new();
	struct alone_look look = alone_look(table, SOLVE);

	assert_true(look.is_empty);
	assert_true(was_alone(table, &look, SOLVE));
	assert_int_equal(alone_count_others(table, ALONE_OUTSIDE), look.entered);
	alone_enter(table, 0, SOLVE);
	assert_true(was_alone(table, &look, SOLVE));
	assert_int_equal(alone_count_others(table, ALONE_OUTSIDE), look.entered + 1);
	alone_leave(table, 0, SOLVE);
	assert_true(alone_look(table, ALONE_NOBODY).is_empty);
	table_unmap(table);
}

CASE("a region beyond the nests is nobodys")
{
	struct table *table = team_new();

	alone_enter(table, 0, ESTIMATE_REGIONS_MAX);
	assert_int_equal(alone_look(table, ESTIMATE_REGIONS_MAX).region, ALONE_NOBODY);
	alone_leave(table, 0, ESTIMATE_REGIONS_MAX);
	assert_true(alone_look(table, ALONE_NOBODY).is_empty);
	table_unmap(table);
}

CASE("a dead member is in no region")
{
	struct table *table = team_new();
	struct alone_look look;

	alone_enter(table, 0, SOLVE);
	alone_enter(table, 1, HALO);
	table->slots[1].state = TABLE_DIED;
	look = alone_look(table, ALONE_NOBODY);
	assert_true(was_alone(table, &look, SOLVE));
	alone_bury(table, 1);
	table->slots[1].state = TABLE_JOINED;
	assert_true(was_alone(table, &look, SOLVE));
	assert_int_equal(alone_look(table, ALONE_NOBODY).region, SOLVE);
	table_unmap(table);
}
