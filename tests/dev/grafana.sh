# SPDX-License-Identifier: BSD-3-Clause
# ./dev grafana: are the dashboards what Grafana takes for one? Its type is known to TypeScript alone.

GRAFANA_FOLDER=build-grafana

grafana_fetch() {
	command -v npm >/dev/null || fail "This needs npm, of package npm or of https://nodejs.org."
	mkdir -p "$GRAFANA_FOLDER"
	cp tests/monitor/grafana/package.json tests/monitor/grafana/package-lock.json "$GRAFANA_FOLDER/"
	quietly "fetch Grafana's schema and TypeScript" \
		npm ci --prefix "$GRAFANA_FOLDER" --ignore-scripts --no-audit --no-fund
}

# $1: the dashboard, a JSON file.
grafana_check() {
	local program
	program=$GRAFANA_FOLDER/$(basename "$1" .json).ts

	{
		printf "import type { Dashboard } from '@grafana/schema';\nexport const dashboard: Dashboard =\n"
		cat "$1"
	} >"$program"
	"$GRAFANA_FOLDER/node_modules/.bin/tsc" --noEmit --strict --skipLibCheck --module nodenext \
		--moduleResolution nodenext "$program" || fail "$1 is not a dashboard."
}

grafana_run() {
	local dashboard

	grafana_fetch
	for dashboard in conf/grafana/*.json; do
		grafana_check "$dashboard"
		say "$dashboard is a dashboard."
	done
}
