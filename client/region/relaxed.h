/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of a table, which other processes may read and write at any time: each access is whole,
 * and orders no other. */
#pragma once

#define LOAD(field)         __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)
