/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of `uncore job report`: page.data is its JSON without the records, page.more lists all runs. */
"use strict";

const ROWS = 100; /* of a table, until all are asked for */

const user = (uid) => (is_known(uid) && uid >= 0 ? `user ${uid}` : "an unknown user");
/* The hosts of a run; one without figures has no metrics. */
function hosts_of(run) {
	const [counts] = run.counts;
	const hosts = run.nodes.map(({ host }) => ({ host, metrics: {}, volume: 0 }));

	for (const [metric, all] of Object.entries(counts || {}).filter(([name]) => is_memory(name)))
		all.forEach((count, i) => {
			const host = hosts[counts.nodes[i]];

			if (is_known(count)) {
				host.metrics[metric] = count;
				host.volume += count;
			}
		});
	return hosts.map((host) => ({ ...host, complete: Object.keys(host.metrics).length > 0 }));
}

const bytes_of = (host, way) => sum(Object.entries(host.metrics).filter(([name]) => is_memory(name, way)).map(([, count]) => count));

for (const run of page.data || [])
	run.hosts = hosts_of(run);

/* --- sums --- */

function total_row(name, metric, seconds) {
	const count = metric.bytes === undefined ? metric.value : metric.bytes;

	return [name, metric.bytes === undefined ? `${page.count(count)} ${metric.unit}` : page.count(count),
		metric.bytes !== undefined && seconds ? page.rate(count / seconds / 1e9, "bytes") : "", metric.quality.join(", ")];
}

function add_totals(run) {
	const metrics = Object.entries(run.total).filter(([name]) => !name.startsWith("check."));

	page.add(page.table("All hosts together", [{ name: "Metric" }, { name: "Bytes", number: true }, { name: "Rate", number: true },
		{ name: "Quality" }], metrics.filter(([, metric]) => metric.absent === undefined)
		.map(([name, metric]) => total_row(name, metric, run.seconds))));
	for (const [name, metric] of metrics.filter(([, one]) => one.absent !== undefined))
		page.add(page.element("p", {}, `Absent: ${name}. ${metric.absent}`));
}

/* --- hosts --- */

function host_row(host, all, median) {
	return host.complete ? [host.host, page.bytes(bytes_of(host, "read")), page.bytes(bytes_of(host, "write")),
		`${((100 * host.volume) / all).toFixed(2)} %`, median ? (host.volume / median).toFixed(3) : ""]
		: [host.host, "no figures", "", "", ""];
}

/* The worst are those without figures; then those that moved the most. */
function sorted_hosts(hosts) {
	return [...hosts].sort((a, b) => a.complete - b.complete || b.volume - a.volume);
}

function host_table(run, most) {
	const hosts = sorted_hosts(run.hosts);
	const volumes = run.hosts.filter((host) => host.complete).map((host) => host.volume).sort((a, b) => a - b);
	const all = sum(volumes);
	const median = volumes[Math.floor((volumes.length - 1) / 2)];

	return page.table(`Hosts of run ${run.run || "of this job"}, those that moved the most first`, [{ name: "Host" },
		{ name: "Read", number: true }, { name: "Written", number: true }, { name: "Share of the job", number: true },
		{ name: "Of the median", number: true }],
	hosts.slice(0, most).map((host) => host_row(host, all, median)));
}

function add_strips(run) {
	for (const metric of Object.keys(run.total).filter((name) => is_memory(name))) {
		const hosts = run.hosts.filter((host) => is_known(host.metrics[metric]));
		const counts = hosts.map((host) => host.metrics[metric]);

		if (hosts.length > 1)
			add_strip(metric, percentiles_of(counts), counts, hosts.map((host) => host.host));
	}
}

function add_hosts(run) {
	const box = page.element("div", {}, host_table(run, ROWS));

	page.add(page.element("h2", {}, "Hosts"));
	if (run.hosts.length > 1) {
		page.add(page.element("p", { class: "dim" }, STRIPS));
		add_strips(run);
	}
	page.add(box);
	if (run.hosts.length <= ROWS)
		return;
	const button = page.element("button", { type: "button" }, `Show all ${page.count(run.hosts.length)} hosts`);

	button.addEventListener("click", () => {
		box.replaceChildren(host_table(run, run.hosts.length));
		button.remove();
	});
	page.add(page.element("p", { class: "controls" }, button));
}

/* --- who else --- */

function add_others(run) {
	page.add(page.element("h2", {}, "Other jobs on these hosts meanwhile"));
	if (!run.other_jobs.length) {
		page.add(page.element("p", {}, "None is known from the records that were read."));
		return;
	}
	page.add(page.element("p", {}, "What they moved is in the figures above, too."));
	page.add(page.table(`Other jobs${run.run ? ` of run ${run.run}` : ""}`, [{ name: "Job" }, { name: "User" }, { name: "Host" },
		{ name: "Begin, UTC" }, { name: "End, UTC" }], run.other_jobs.map((job) => [job.job || "", user(job.uid), job.host || "",
		page.time(job.begin), page.time(job.end)])));
}

/* --- the page --- */

function add_run(run, has_heading) {
	if (has_heading)
		page.add(page.element("h2", {}, `Run ${run.run || run.begin}`));
	page.add(page.note(...run.notes));
	add_totals(run);
	add_hosts(run);
	add_others(run);
}

function add_runs(runs) {
	page.add(page.element("h2", {}, "Runs"), page.element("p", {}, `This job ran ${runs.length} times, since it was requeued.`),
		page.table("All runs of the job", [{ name: "Run" }, { name: "Hosts", number: true }, { name: "Begin, UTC" }, { name: "End, UTC" },
			{ name: "Exit" }], runs.map((run, i) => [run.run || `${i + 1}`, page.count(run.nodes), page.time(run.begin),
			page.time(run.end), run.exit || ""])));
}

function add_all() {
	const runs = page.data || [];
	const run = runs[runs.length - 1];

	if (!run) {
		page.title("Memory traffic: there is no record of this job", []);
		return;
	}
	page.title(`Memory traffic of job ${run.job}`, [user(run.uid), run.run ? `run ${run.run}` : "",
		`${page.count(run.hosts.length)} host${run.hosts.length > 1 ? "s" : ""}`, `${run.begin} to ${run.end}`,
		is_known(run.seconds) ? page.seconds(run.seconds) : "", run.exit ? `exit ${run.exit}` : "",
		run.platform ? `platform ${run.platform}` : ""]);
	page.add(page.element("p", {}, "Everything that each socket of these hosts did is counted, not only this job."));
	for (const one of runs)
		add_run(one, runs.length > 1);
	if (page.more.length > 1)
		add_runs(page.more);
}

add_all();
