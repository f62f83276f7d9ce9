/* SPDX-License-Identifier: BSD-3-Clause */
/* How long each rank was in a region: a strip with quartiles, and the ranks that stand out by name. */
"use strict";

const RANKS_MOST = 50, RANK_HEIGHT = 64, RANK_LINE = 40;
const RANKS_RULE = "Seconds that each rank spent in a region, over its threads. Each rank is a tick between 0 and the most, higher " +
	"where there are many; the box is from 25 % to 75 %, with the median. A rank is named that is farther from the box than 1.5 times " +
	"its width, and 5 % of the median or more from that.";

const seconds_of = (ns) => (is_known(ns) ? page.seconds(ns / 1e9) : "for an unknown time");

function rank_name({ rank, pid, host }, has_hosts) {
	return `${is_known(rank) ? `rank ${rank}` : `pid ${pid}`}${has_hosts && host ? ` on ${host}` : ""}`;
}

/* "rank 5 3.10 s, rank 7 2.00 s, and 2 more" */
function ranks_text(ranks, more, has_hosts) {
	return ranks.map((one) => `${rank_name(one, has_hosts)} ${seconds_of(one.time_ns)}`).join(", ") + (more ? `, and ${more} more` : "");
}

/* For a table, which must not become too wide. */
function first_text(ranks, more, has_hosts) {
	return ranks_text(ranks.slice(0, 1), more + Math.max(0, ranks.length - 1), has_hosts);
}

/* Of each place between 0 and the most, how many ranks are there: as page.data.rank_bins has them. */
function bins_of(member_ns, most) {
	const bins = new Map();

	for (const ns of member_ns.filter((one) => one)) {
		const bin = Math.round((ns / most) * BINS);

		bins.set(bin, (bins.get(bin) || 0) + 1);
	}
	return [...bins];
}

/* As many names as there is room for: the farthest first. */
function rank_labels(outliers, at, width, has_hosts) {
	const taken = [];
	const shapes = [];

	for (const one of outliers) {
		const text = rank_name(one, has_hosts).slice(0, 24);
		const half = 3.6 * text.length;
		const x = Math.min(Math.max(at(one.time_ns), half), width - half);

		shapes.push(page.shape("circle", { cx: at(one.time_ns), cy: 24, r: 4, class: "far" },
			page.shape("title", {}, ranks_text([one], 0, has_hosts))));
		if (taken.some((other) => Math.abs(other.x - x) < other.half + half + 6))
			continue;
		taken.push({ x, half });
		shapes.push(page.shape("text", { x, y: 13, "text-anchor": "middle", class: "outlier" }, text));
	}
	return shapes;
}

function rank_strip({ time, bins, has_hosts }, width) {
	const [, lower, median, upper, most] = time.quartiles_ns;
	const at = (ns) => 5 + (ns / most) * (width - 10);
	const high = (n) => Math.min(18, 6 + 4 * Math.log2(n));
	const shapes = bins.map(([bin, n]) => page.shape("rect", { x: at((bin / BINS) * most) - 1.2, width: 2.4,
		y: RANK_LINE - high(n), height: high(n), class: "tick" }));

	shapes.push(
		page.shape("line", { x1: 0, x2: width, y1: RANK_LINE, y2: RANK_LINE, class: "rule" }),
		page.shape("rect", { x: at(lower), width: Math.max(1, at(upper) - at(lower)), y: RANK_LINE - 10, height: 10, class: "box" }),
		page.shape("line", { x1: at(median), x2: at(median), y1: RANK_LINE - 16, y2: RANK_LINE + 4, class: "median" },
			page.shape("title", {}, `median: ${seconds_of(median)}`)),
		page.shape("text", { x: 0, y: RANK_LINE + 18, class: "dim" }, "0"),
		page.shape("text", { x: width, y: RANK_LINE + 18, "text-anchor": "end", class: "dim" }, seconds_of(most)),
		...rank_labels(time.outliers, at, width, has_hosts));
	return { height: RANK_HEIGHT, shapes };
}

function add_rank_strip(one) {
	const { name, time, has_hosts } = one;
	const [least, , median, , most] = time.quartiles_ns.map(seconds_of);
	const told = [
		`${time.ranks} ranks: least ${least}, median ${median}, most ${most}.`,
		time.outliers.length ? `Outliers: ${ranks_text(time.outliers, time.more_outliers, has_hosts)}.` : "No outliers.",
		time.dead.length ? `Died: ${ranks_text(time.dead, time.more_dead, has_hosts)}.` : "",
	].filter((text) => text).join(" ");

	page.add(page.element("h3", {}, name), page.drawing(`Seconds of the ranks in ${name}. ${told}`, (width) => rank_strip(one, width)),
		page.element("p", {}, told));
}

function add_rank_table(all) {
	const columns = [["Region"], ["Ranks", true], ["Least", true], ["25 %", true], ["Median", true], ["75 %", true], ["Most", true],
		["Not known", true], ["Outliers"], ["Died"]];

	page.add(page.table("Seconds of a rank in each region. Not known: ranks that ended inside the region.",
		columns.map(([name, number]) => ({ name, number })), all.map(({ name, time, has_hosts }) => [name, page.count(time.ranks),
			...[0, 1, 2, 3, 4].map((i) => (time.ranks ? seconds_of(time.quartiles_ns[i]) : "")), page.count(time.not_known),
			first_text(time.outliers, time.more_outliers, has_hosts), first_text(time.dead, time.more_dead, has_hosts)])));
}

/* all: of each region its {name, time, bins, has_hosts}, of which .time may be missing. n: how many ranks there are. */
function add_ranks(all, n) {
	const known = all.filter(({ time }) => time);
	const drawn = known.filter(({ time }) => time.ranks > 1);

	if (n < 2 || !all.length)
		return;
	page.add(page.element("h2", {}, "Ranks"));
	if (!known.length) {
		page.add(page.element("p", {}, "How long each rank was in a region is not known: the report is of too many ranks."));
		return;
	}
	page.add(page.element("p", { class: "dim" }, RANKS_RULE));
	drawn.slice(0, RANKS_MOST).forEach(add_rank_strip);
	if (drawn.length > RANKS_MOST)
		page.add(page.element("p", {}, `Here are the first ${RANKS_MOST} of ${drawn.length} regions; the table has all.`));
	add_rank_table(known);
}

function ranks_of_record(record) {
	return record.regions.map((region) => ({ name: tag_of(region), time: region.rank_time, has_hosts: false,
		bins: region.rank_time && region.rank_time.ranks ? bins_of(region.member_ns, region.rank_time.quartiles_ns[4]) : [] }));
}

function ranks_of_nodes(report) {
	return report.imbalance.map((one, i) => ({ name: tag_of({ ...one, name: one.region }), time: one.rank_time, has_hosts: true,
		bins: report.rank_bins[i] || [] }));
}
