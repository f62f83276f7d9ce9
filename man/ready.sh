#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A part of `meson dist`: puts every man page, made, into the tarball, so that nobody who builds it needs scdoc. The
# pages have the date of the commit, and so have all files, so that the same commit gives the same tarball.
set -euo pipefail

SOURCE_DATE_EPOCH=$(git -C "$MESON_SOURCE_ROOT" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
ninja -C "$MESON_BUILD_ROOT" generate/generate
man=$MESON_DIST_ROOT/man
mkdir "$man/ready"
for source in "$man"/*.scd; do
	page=$man/ready/$(basename "$source" .scd)
	"$MESON_BUILD_ROOT/generate/generate" page <"$source" | scdoc >"$page"
	touch -d "@$SOURCE_DATE_EPOCH" "$page"
done
touch -d "@$SOURCE_DATE_EPOCH" "$man/ready" "$man" "$MESON_DIST_ROOT"
