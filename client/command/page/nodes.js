/* SPDX-License-Identifier: BSD-3-Clause */
/* How nodes differ: a strip for a metric, with percentiles, and the nodes that stand out by name. */
"use strict";

const is_known = (number) => number !== null && number !== undefined && Number.isFinite(number);
const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);

/* Of memory, reads or writes: "dram.read", "hbm.write".. */
const MEMORY = /^(dram|hbm|pmm|cxl)\.(read|write)$/;
const is_memory = (name, way) => MEMORY.test(name) && (!way || name.endsWith(`.${way}`));

const STRIPS = "Each node is a tick between 0 and the most; ticks are higher where there are many.";
const BINS = 240, STRIP = 46;

/* Beyond these, a node is named: Tukey's outer fences, but no less than 1 % of the median. */
function fences(sorted) {
	const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
	const reach = Math.max(3 * (at(0.75) - at(0.25)), 0.01 * at(0.5));

	return [at(0.25) - reach, at(0.75) + reach];
}

/* As the reports have them: least, 5 %, median, 95 %, most. */
function percentiles_of(counts) {
	const sorted = [...counts].sort((a, b) => a - b);

	return [0, 0.05, 0.5, 0.95, 1].map((share) => sorted[Math.max(Math.ceil(share * sorted.length), 1) - 1]);
}

function outliers_of(counts, hosts) {
	const [low, high] = fences([...counts].sort((a, b) => a - b));

	return counts.map((count, i) => ({ count, host: hosts[i] })).filter(({ count }) => count < low || count > high)
		.sort((a, b) => b.count - a.count);
}

/* Each node is a tick; where there are many, the tick is as high as the logarithm of their number. */
function strip(counts, percentiles, width, write) {
	const most = Math.max(...percentiles, 1);
	const at = (count) => 4 + (count / most) * (width - 8);
	const bins = new Map();

	for (const count of counts) {
		const bin = Math.round((count / most) * BINS);

		bins.set(bin, (bins.get(bin) || 0) + 1);
	}
	const shapes = [...bins].map(([bin, n]) => page.shape("rect", { x: at((bin / BINS) * most) - 1.2, width: 2.4,
		y: 20 - Math.min(18, 6 + 4 * Math.log2(n)), height: Math.min(18, 6 + 4 * Math.log2(n)), class: "tick" }));

	shapes.push(page.shape("line", { x1: 0, x2: width, y1: 20, y2: 20, class: "rule" }));
	for (const [i, name] of [[1, "5 %"], [2, "median"], [3, "95 %"]])
		shapes.push(page.shape("line", { x1: at(percentiles[i]), x2: at(percentiles[i]), y1: 2, y2: 26,
			class: i === 2 ? "median" : "quantile" }, page.shape("title", {}, `${name}: ${write(percentiles[i])}`)));
	shapes.push(page.shape("text", { x: 0, y: 40, class: "dim" }, "0"));
	shapes.push(page.shape("text", { x: width, y: 40, "text-anchor": "end", class: "dim" }, write(most)));
	return { height: STRIP, shapes };
}

/* Of the nodes whose counts are known. write: as people read a count. */
function add_strip(title, all, hosts, write = page.bytes) {
	const counts = all.filter(is_known);

	if (!counts.length)
		return;
	const percentiles = percentiles_of(counts);
	const outliers = outliers_of(counts, hosts.filter((_, i) => is_known(all[i])));
	const [least, low, median, high, most] = percentiles.map(write);
	const named = outliers.slice(0, 8).map(({ count, host }) => `${host} ${write(count)}`).join(", ");

	page.add(page.element("h3", {}, title));
	page.add(page.drawing(`${title} of ${counts.length} nodes: median ${median}, most ${most}`,
		(width) => strip(counts, percentiles, width, write)));
	page.add(page.element("p", {}, `Least ${least}, 5 % ${low}, median ${median}, 95 % ${high}, most ${most}. ` +
		(outliers.length ? `Outliers: ${named}${outliers.length > 8 ? `, and ${outliers.length - 8} more` : ""}.`
			: "No outliers.")));
}
