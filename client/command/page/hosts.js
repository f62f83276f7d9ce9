/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of a batch system: each host, the worst first, and other jobs that were there. */
"use strict";

const ROWS = 100; /* of a table, until all are asked for */

const is_of_job = (record) => record.uid !== undefined;
const user = (uid) => (is_known(uid) ? `user ${uid}` : "an unknown user");

/* Those without figures first; then those that moved the most. */
function hosts_of({ nodes, counts: [counts] }) {
	const all = nodes.map(({ host }) => ({ host, read: NaN, write: NaN, volume: NaN }));
	const add = (host, way, count) => { host[way] = (host[way] || 0) + count; };

	for (const [metric, figures_of] of Object.entries(counts || {}).filter(([name]) => is_memory(name)))
		figures_of.forEach((count, i) => {
			if (is_known(count))
				[metric.split(".")[1], "volume"].forEach((way) => add(all[counts.nodes[i]], way, count));
		});
	return all.sort((a, b) => is_known(a.volume) - is_known(b.volume) || b.volume - a.volume);
}

function host_row({ host, read, write, volume }, all, median) {
	const bytes = (number) => (is_known(number) ? page.bytes(number) : "");

	return is_known(volume) ? [host, bytes(read), bytes(write), `${((100 * volume) / all).toFixed(2)} %`,
		median ? (volume / median).toFixed(3) : ""] : [host, "no figures", "", "", ""];
}

function host_table(hosts, most) {
	const volumes = hosts.map(({ volume }) => volume).filter(is_known);
	const all = sum(volumes);
	const median = volumes.length && percentiles_of(volumes)[2];

	return page.table("Hosts, those that moved the most first", [{ name: "Host" }, { name: "Read", number: true },
		{ name: "Written", number: true }, { name: "Share of the job", number: true }, { name: "Of the median", number: true }],
	hosts.slice(0, most).map((host) => host_row(host, all, median)));
}

function add_hosts(report) {
	const hosts = hosts_of(report);
	const box = page.element("div", {}, host_table(hosts, ROWS));

	page.add(box);
	if (hosts.length <= ROWS)
		return;
	const button = page.element("button", { type: "button" }, `Show all ${page.count(hosts.length)} hosts`);

	button.addEventListener("click", () => {
		box.replaceChildren(host_table(hosts, hosts.length));
		button.remove();
	});
	page.add(page.element("p", { class: "controls" }, button));
}

function add_others(others) {
	if (!others)
		return;
	page.add(page.element("h2", {}, "Other jobs on these hosts meanwhile"));
	if (!others.length) {
		page.add(page.element("p", {}, "None is known from the records that were read."));
		return;
	}
	page.add(page.element("p", {}, "What they moved is in the figures above, too."), page.table("Other jobs", [{ name: "Job" },
		{ name: "User" }, { name: "Host" }, { name: "Begin, UTC" }, { name: "End, UTC" }], others.map((job) => [job.job || "",
		user(job.uid), job.host || "", page.time(job.begun), page.time(job.ended)])));
}
