/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/arrays.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "common/array.h"
#include "common/macro.h"

static const char SCHEMA[] = "\"uncore-heap-1\"";
enum { SCHEMA_BYTES = 64 }; /* of the text: it comes first */

bool arrays_is_text(const char *text)
{
	return memmem(text, strnlen(text, SCHEMA_BYTES), SCHEMA, strlen(SCHEMA));
}

/* A pipe can only be read once. */
bool arrays_is_file(const char *path)
{
	char text[SCHEMA_BYTES + 1] = "";
	_cleanup_file_ FILE *in = NULL;
	struct stat status;

	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	in = fopen(path, "re");
	return in && fread(text, 1, SCHEMA_BYTES, in) && arrays_is_text(text);
}

static int arrays_add_one(struct arrays *arrays, struct array array)
{
	if (array_room(&arrays->all, arrays->n, sizeof array) < 0)
		return -ENOMEM;
	arrays->all[arrays->n++] = array;
	return 0;
}

/* The frames in lines. */
static char *arrays_key_of(const struct json_value *frames)
{
	char *key = NULL;
	size_t size_bytes;
	FILE *out = open_memstream(&key, &size_bytes);

	if (!out)
		return NULL;
	JSON_EACH (frames, frame)
		fprintf(out, "%s\n", json_scalar(frame, "?"));
	return fclose(out) == EOF ? NULL : key;
}

static int arrays_add_region(
	struct arrays *arrays, const struct arrays_file *file, const struct json_value *region)
{
	const struct json_value *sites = json_list(file->document.json.values, "sites");
	const struct json_value *parts = json_list(region, "sites");
	int r = 0;

	JSON_EACH (parts, part) {
		const size_t number = json_number(part, "site");
		const struct json_value *site = json_next(sites, NULL);

		if (number >= file->n_keys)
			return -EBADMSG;
		for (size_t i = 0; i < number; i++)
			site = json_next(sites, site);
		r = arrays_add_one(arrays, (struct array){ .region = json_text(region, "name", "?"),
						   .kind = json_text(site, "kind", "other places"),
						   .key = file->keys[number],
						   .bytes = json_real(part, "most_bytes"),
						   .n = json_real(part, "most_blocks") });
		if (r < 0)
			return r;
	}
	return r;
}

static int add_static(struct arrays *arrays, const struct json_value *document)
{
	const struct json_value *objects = json_list(document, "objects");
	const struct json_value *unnamed = json_list(document, "unnamed");
	int r = 0;

	JSON_EACH (unnamed, module)
		arrays->unnamed_bytes += json_real(module, "bytes");
	JSON_EACH (objects, object)
		if (r == 0)
			r = arrays_add_one(
				arrays, (struct array){ .region = "",
						.kind = "static",
						.key = json_text(object, "name", "?"),
						.module = json_text(object, "module", "?"),
						.bytes = json_real(object, "bytes"),
						.n = 1 });
	return r;
}

static int add_document(struct arrays *arrays, struct arrays_file *file)
{
	const struct json_value *document = file->document.json.values;
	const struct json_value *sites = json_list(document, "sites");
	const struct json_value *regions = json_list(document, "regions");
	int r = add_static(arrays, document);

	file->keys = calloc(json_length(sites) + 1, sizeof *file->keys);
	JSON_EACH (sites, site)
		if (file->keys && r == 0) {
			file->keys[file->n_keys] = arrays_key_of(json_list(site, "frames"));
			r = file->keys[file->n_keys++] ? 0 : -ENOMEM;
		}
	if (r == 0 && !file->keys)
		r = -ENOMEM;
	JSON_EACH (regions, region)
		if (r == 0)
			r = arrays_add_region(arrays, file, region);
	arrays->n_lost += json_number(document, "lost_blocks");
	if (json_number(document, "least_bytes") > arrays->least_bytes)
		arrays->least_bytes = json_number(document, "least_bytes");
	return r;
}

int arrays_add(struct arrays *arrays, char *text)
{
	struct arrays_file *file;

	if (array_room(&arrays->files, arrays->n_files, sizeof *file) < 0) {
		free(text);
		return -ENOMEM;
	}
	file = &arrays->files[arrays->n_files++];
	*file = (struct arrays_file){ .keys = NULL };
	if (!json_document_take(&file->document, text))
		return -EBADMSG;
	return add_document(arrays, file);
}

static int arrays_compare(const struct array *a, const struct array *b)
{
	int r = strcmp(a->region, b->region);

	if (r == 0)
		r = strcmp(a->kind, b->kind);
	return r ? r : strcmp(a->key, b->key);
}

static int by_place(const void *a, const void *b)
{
	return arrays_compare(a, b);
}

static int arrays_by_bytes(const void *a, const void *b)
{
	const struct array *x = a, *y = b;
	const int r = strcmp(x->region, y->region);

	return r ? r : (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

void arrays_join(struct arrays *arrays)
{
	size_t n = 0;

	if (!arrays->n)
		return;
	qsort(arrays->all, arrays->n, sizeof *arrays->all, by_place);
	for (size_t i = 1; i < arrays->n; i++)
		if (arrays_compare(&arrays->all[n], &arrays->all[i]) == 0) {
			arrays->all[n].bytes += arrays->all[i].bytes;
			arrays->all[n].n += arrays->all[i].n;
		} else {
			arrays->all[++n] = arrays->all[i];
		}
	arrays->n = n + 1;
	qsort(arrays->all, arrays->n, sizeof *arrays->all, arrays_by_bytes);
}

void arrays_done(struct arrays *arrays)
{
	for (size_t i = 0; i < arrays->n_files; i++) {
		for (size_t k = 0; k < arrays->files[i].n_keys; k++)
			free(arrays->files[i].keys[k]);
		free(arrays->files[i].keys);
		json_document_done(&arrays->files[i].document);
	}
	free(arrays->files);
	free(arrays->all);
}

size_t arrays_of(const struct arrays *arrays, const char *region, const struct array **ret)
{
	size_t first = 0, n;

	while (first < arrays->n && strcmp(arrays->all[first].region, region) != 0)
		first++;
	n = first;
	while (n < arrays->n && strcmp(arrays->all[n].region, region) == 0)
		n++;
	*ret = arrays->all + first;
	return n - first;
}
