/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of `uncore report` and `uncore job report`: page.data is the JSON without the records of each node. */
"use strict";

const tag_of = (region) => region.name + (region.run ? ` #${region.run}` : "") +
	(region.node !== undefined ? ` @${region.node + 1}` : "");

/* --- figures of a region --- */

/* Of all sockets that have counts, NaN: not known. {all}: what moved while it was open; {alone}: while no other region was;
 * {bytes}: its share, or all. */
function figures(region, way) {
	const all = region.sockets.flatMap((socket) => Object.entries(socket.metrics)
		.filter(([name, metric]) => is_memory(name, way) && metric.absent === undefined).map(([, metric]) => metric));
	const of = (key) => (all.length ? sum(all.map((metric) => (is_known(metric[key]) ? metric[key] : NaN))) : NaN);

	return {
		all: of("bytes"), alone: of("alone"), bytes: is_known(of("share")) ? of("share") : of("bytes"),
		quality: [...new Set(all.flatMap((metric) => metric.quality))],
	};
}

function derived_text(derived, write) {
	if (!derived)
		return "";
	return derived.absent === undefined ? write(derived.value) : `absent: ${derived.absent}`;
}

/* --- bars --- */

const ROW = 44, TOP = 34;

function bars(regions, width) {
	const names = Math.min(200, width * 0.28);
	const all = regions.map((region) => ({ region, read: figures(region, "read"), write: figures(region, "write"),
		both: figures(region) }));
	const most = Math.max(...all.map(({ both }) => both.all || 0), 1);
	const at = (bytes) => names + (bytes / most) * (width - names - 32);
	const height = TOP + ROW * all.length;
	const ticks = page.ticks(most, Math.max(2, (width - names) / 130));
	const shapes = ticks.flatMap((tick) => [
		page.shape("line", { x1: at(tick), x2: at(tick), y1: TOP - 8, y2: height, class: "rule" }),
		page.shape("text", { x: at(tick), y: 14, "text-anchor": "middle", class: "dim" }, page.bytes(tick)),
	]);

	all.forEach((one, i) => shapes.push(...bar(one, TOP + ROW * i, at, names)));
	return { height, shapes };
}

function bar({ region, read, write, both }, y, at, names) {
	const shapes = [page.label(0, y + 18, tag_of(region), names - 8)];
	const end = at(read.all || 0);

	if (!is_known(both.all) && !is_known(read.all) && !is_known(write.all))
		return [...shapes, page.shape("text", { x: names, y: y + 18, class: "dim" }, "no figures")];
	shapes.push(
		page.shape("rect", { x: at(0), y, width: end - at(0), height: 20, class: "read" }),
		page.shape("rect", { x: end, y, width: at((read.all || 0) + (write.all || 0)) - end, height: 20, class: "write" }));
	if (is_wide(both))
		shapes.push(...bracket(both, y + 29, at));
	return shapes;
}

/* As the command's table shows it. */
const is_wide = ({ alone, all }) => all - alone > 0.02 * all;

/* From what moved while the region was alone to all, and its share as a point. */
function bracket({ alone, bytes, all }, y, at) {
	return [
		page.shape("line", { x1: at(alone), x2: at(all), y1: y, y2: y, class: "bracket" }),
		...[alone, all].map((end) => page.shape("line", { x1: at(end), x2: at(end), y1: y - 5, y2: y + 5, class: "bracket" })),
		page.shape("circle", { cx: at(bytes), cy: y, r: 4.5, class: "own" }),
	];
}

function key(kind, text) {
	return page.element("li", {}, page.shape("svg", { width: 28, height: 12, "aria-hidden": "true" }, {
		read: [page.shape("rect", { x: 0, y: 0, width: 28, height: 12, class: "read" })],
		write: [page.shape("rect", { x: 0, y: 0, width: 28, height: 12, class: "write" })],
		bracket: [[2, 2, 1, 11], [26, 26, 1, 11], [2, 26, 6, 6]].map(([x1, x2, y1, y2]) =>
			page.shape("line", { x1, x2, y1, y2, class: "bracket" })),
		own: [page.shape("circle", { cx: 14, cy: 6, r: 4.5, class: "own" })],
	}[kind]), text);
}

function add_bars(regions) {
	page.add(page.drawing("Bytes of each region; the table below has the figures", (width) => bars(regions, width)));
	page.add(page.element("ul", { class: "legend" }, key("read", "read"), key("write", "written"),
		key("bracket", "moved while it was alone, and in all"), key("own", "its share")));
}

/* --- the table of regions --- */

/* "96 GB to 144 GB"; "96 GB or more", if part of the region's time is not measured. */
function between_text(region, { alone, all }) {
	if (region.lost_ns || region.failed || region.open || region.died)
		return is_known(alone) ? `${page.bytes(alone)} or more` : "";
	return is_wide({ alone, all }) ? `${page.bytes(alone)} to ${page.bytes(all)}` : "";
}

function region_row(region) {
	const [read, write, both] = [figures(region, "read"), figures(region, "write"), figures(region)];
	const bytes = (number) => (is_known(number) ? page.bytes(number) : "");
	const { derived } = region;

	return [tag_of(region), page.count(region.count), page.count(region.ranks), page.seconds(region.window_ns / 1e9),
		bytes(read.bytes), bytes(write.bytes), between_text(region, both),
		region.window_ns && is_known(both.bytes) ? page.rate(both.bytes / region.window_ns, "bytes") : "",
		derived ? derived_text(derived.evaded, (value) => `${(100 * value).toFixed(1)} %`) : "", both.quality.join(", ")];
}

function add_regions(record) {
	const columns = [["Region"], ["Passages", true], ["Ranks", true], ["Open for", true], ["Read", true], ["Written", true],
		["Between"], ["Rate", true], ["Evaded", true], ["Quality"]];

	page.add(page.element("h2", {}, is_of_job(record) ? "Job" : "Regions"));
	if (!record.regions.length) {
		page.add(page.element("p", {}, "There are no regions."));
		return;
	}
	add_bars(record.regions);
	page.add(page.table("Figures of all sockets together. What moved while several regions were open is shared out by the time of their " +
		"threads; between: what moved while the region was alone, and while it was open. Evaded: the share of writes without a read " +
		"before, where a counter shows it.",
		columns.map(([name, number]) => ({ name, number })), record.regions.map(region_row)));
}

/* --- work --- */

/* Measured and predicted bytes of each unit: {region, metric, each, predicted, ratio}. */
function works_of(region) {
	const { volume, predicted } = region.derived || {};

	return Object.keys(region.work || {}).map((unit) => ({ region: tag_of(region), metric: unit,
		each: volume && volume.per_work[unit], ...(predicted && predicted[unit]) }));
}

function work_row({ region, metric, each, per_work, ratio }) {
	const bytes = (value) => `${+value.toPrecision(4)} B`;

	return [region, metric, each ? derived_text(each, bytes) : "absent: no figures", per_work ? bytes(per_work) : "nobody predicts it",
		derived_text(ratio, (value) => `${value.toFixed(3)} ± ${(ratio.error || 0).toFixed(3)}`)];
}

function add_work(record) {
	const works = record.regions.flatMap(works_of);
	const known = works.filter(({ ratio }) => ratio && ratio.absent === undefined && ratio.value > 0).map((work) => ({ region: `${work.metric},`, metric: work.region,
		ratio: work.ratio.value, low: work.ratio.value - (work.ratio.error || 0), high: work.ratio.value + (work.ratio.error || 0) }));

	if (!works.length)
		return;
	page.add(page.element("h2", {}, "Bytes per unit of work"));
	if (known.length)
		page.add(page.drawing("Measured bytes / predicted ones; the table below has the figures", (width) => ratios(known, width)));
	page.add(page.table("Reads and writes of all memory. uncore report --predict UNIT=BYTES states a prediction.", [{ name: "Region" },
		{ name: "Unit" }, { name: "Measured", number: true }, { name: "Predicted", number: true },
		{ name: "Measured / predicted", number: true }], works.map(work_row)));
}

/* --- nodes --- */

function add_nodes(report) {
	const shown = (report.imbalance || []).filter((one) => one.nodes > 1);

	if (!shown.length)
		return;
	page.add(page.element("h2", {}, "Nodes"));
	page.add(page.element("p", { class: "dim" }, `${STRIPS} Bytes of a rank do not exist, because all that a socket does is ` +
		"counted once."));
	report.imbalance.forEach((one, i) => {
		const name = tag_of({ ...one, name: one.region });
		const { nodes = [], open_ns = [], ...counts } = one.nodes > 1 && report.counts[i] ? report.counts[i] : {};
		const hosts = nodes.map((node) => report.nodes[node].host);

		for (const [metric, all] of Object.entries(counts))
			add_strip(`${name}: ${metric}`, all, hosts);
		add_strip(`${name}: open for`, open_ns, hosts, (ns) => page.seconds(ns / 1e9));
	});
	if (!report.counts.length)
		page.add(page.element("p", {}, "There are too many nodes and regions to show each of them here; " +
			"uncore report --csv has them."));
	if (is_of_job(report.total))
		add_hosts(report);
	else
		add_worst(shown);
}

function add_worst(shown) {
	const rows = shown.flatMap((one) => Object.entries(one.metrics).filter(([metric]) => is_memory(metric))
		.flatMap(([metric, figure]) => (figure.worst || []).slice(0, 3).map(({ host, count }) =>
			[tag_of({ ...one, name: one.region }), metric, host, page.bytes(count),
				`${(count / (figure.percentiles[2] || NaN)).toFixed(3)}`])));

	page.add(page.table("The nodes with the most bytes", [{ name: "Region" }, { name: "Metric" }, { name: "Node" },
		{ name: "Bytes", number: true }, { name: "Of the median", number: true }], rows));
}

/* --- roofline --- */

const LOG_HEIGHT = 300, LEFT = 64, BOTTOM = 40;

function roof_points(record) {
	return record.regions.flatMap((region) => {
		const { bytes } = figures(region);

		return is_known(bytes) && bytes > 0 && region.window_ns
			? Object.entries(region.work || {}).filter(([, amount]) => amount > 0).map(([unit, amount]) =>
				({ name: tag_of(region), unit, intensity: amount / bytes, speed: amount / region.window_ns,
					rate: bytes / region.window_ns }))
			: [];
	});
}

function decades(low, high) {
	return Array.from({ length: high - low + 1 }, (_, i) => low + i);
}

function roofline(points, peak, width) {
	const ends = (values) => [Math.floor(Math.log10(Math.min(...values)) - 0.3), Math.ceil(Math.log10(Math.max(...values)) + 0.3)];
	const [x0, x1] = ends(points.map((point) => point.intensity));
	const [y0, y1] = ends(points.flatMap((point) => [point.speed, peak * point.intensity]));
	const at_x = (log) => LEFT + ((log - x0) / (x1 - x0)) * (width - LEFT - 12);
	const at_y = (log) => 10 + ((y1 - log) / (y1 - y0)) * (LOG_HEIGHT - BOTTOM - 10);
	const roof = (log) => Math.log10(peak) + log;
	const clip = (log) => Math.min(x1, Math.max(x0, log));
	const [from, to] = [clip(y0 - Math.log10(peak)), clip(y1 - Math.log10(peak))];
	const shapes = [
		...decades(x0, x1).flatMap((log) => [
			page.shape("line", { x1: at_x(log), x2: at_x(log), y1: 10, y2: LOG_HEIGHT - BOTTOM, class: "rule" }),
			page.shape("text", { x: at_x(log), y: LOG_HEIGHT - 22, "text-anchor": "middle", class: "dim" }, `1e${log}`)]),
		...decades(y0, y1).flatMap((log) => [
			page.shape("line", { x1: LEFT, x2: width - 12, y1: at_y(log), y2: at_y(log), class: "rule" }),
			page.shape("text", { x: LEFT - 6, y: at_y(log) + 4, "text-anchor": "end", class: "dim" }, `1e${log + 9}`)]),
		page.shape("line", { x1: at_x(from), x2: at_x(to), y1: at_y(roof(from)), y2: at_y(roof(to)), class: "roof" }),
		page.shape("text", { x: (LEFT + width) / 2, y: LOG_HEIGHT - 4, "text-anchor": "middle" }, `${points[0].unit} a byte`),
		page.shape("text", { x: LEFT + 6, y: 24 }, `${points[0].unit} a second`),
	];

	for (const point of points) {
		const [x, y] = [at_x(Math.log10(point.intensity)), at_y(Math.log10(point.speed))];
		const is_right = x > width * 0.7;

		shapes.push(page.shape("circle", { cx: x, cy: y, r: 4.5, class: "own" }));
		shapes.push(page.label(is_right ? x - 9 : x + 9, y + 4, point.name, 180, is_right ? { "text-anchor": "end" } : {}));
	}
	return { height: LOG_HEIGHT, shapes };
}

/* Why there is no roofline, or null. */
function no_roofline(points) {
	if (!points.length)
		return "No roofline, because the program named no work of its regions: uncore_region_work().";
	return page.more && page.more.peak_bytes_per_ns ? null
		: `No roofline, because no peak is known: ${page.more ? page.more.peak_absent : ""}`;
}

function add_roofline(record) {
	const points = roof_points(record);
	const why = no_roofline(points);

	page.add(page.element("h2", {}, "Roofline"));
	if (why) {
		page.add(page.element("p", {}, why));
		return;
	}
	const peak = page.more.peak_bytes_per_ns * (page.data.nodes ? page.data.nodes.length : 1);

	for (const unit of new Set(points.map((point) => point.unit))) {
		const of_unit = points.filter((point) => point.unit === unit);

		page.add(page.drawing(`Roofline of ${unit}; the table below has the figures`, (width) => roofline(of_unit, peak, width)));
		page.add(page.table(`${unit}: the line is ${peak.toFixed(1)} GB/s, the most that a kernel of uncore validate moved`,
			[{ name: "Region" }, { name: `${unit} a byte`, number: true }, { name: `${unit} a second`, number: true },
				{ name: "Rate", number: true }, { name: "Of the peak", number: true }],
			of_unit.map((point) => [point.name, point.intensity.toPrecision(4), (1e9 * point.speed).toPrecision(4),
				page.rate(point.rate, "bytes"), `${((100 * point.rate) / peak).toFixed(1)} %`])));
	}
}

/* --- several runs --- */

const RUNS_HEIGHT = 280, SIDE = 84;
const Y_OF_REGION = {
	"bytes": (region) => figures(region).bytes,
	"bytes per passage": (region) => figures(region).bytes / region.count,
	"bytes per second": (region) => (1e9 * figures(region).bytes) / region.window_ns,
};

function runs_of(report) {
	return report.runs.map((places, i) => {
		const nodes = places.map((place) => report.nodes[place]);

		return { number: i + 1, nodes: nodes.length, ranks: sum(nodes.map((node) => node.ranks)),
			begun_s: Math.min(...nodes.map((node) => node.begun_s)), label: nodes.map((node) => node.label).find((label) => label) };
	});
}

const date_of = (seconds) => new Date(1000 * seconds).toISOString();

/* Labels that are numbers are where these are; others are side by side, as their runs came. */
function axis_of_labels(runs) {
	const labels = [...new Set(runs.map(({ label }) => label).filter((label) => label))];

	return labels.every((label) => label.trim() && Number.isFinite(Number(label)))
		? { name: "label", at: ({ label }) => (label ? Number(label) : NaN) }
		: { name: "label", at: ({ label }) => (label ? labels.indexOf(label) : NaN), names: labels };
}

/* What runs may be over: {name, at(run, region)}, and perhaps is_time, in seconds, or the names of 0, 1.. */
function axes_of(report, runs) {
	const units = new Set(report.total.regions.flatMap((region) => Object.keys(region.work || {})));
	const axes = [{ name: "ranks", at: ({ ranks }) => ranks }, { name: "nodes", at: ({ nodes }) => nodes },
		...[...units].map((unit) => ({ name: `size: ${unit}`, at: (run, region) => region.work[unit] })),
		axis_of_labels(runs), { name: "date", at: ({ begun_s }) => begun_s, is_time: true }];
	const values = ({ at }) => report.total.regions.filter((one) => one.run).map((region) => at(runs[region.run - 1], region));

	return [...axes.filter((axis) => new Set(values(axis).filter(is_known)).size > 1), { name: "number", at: ({ number }) => number }];
}

/* A line for each region, with a point for each run. */
function lines_of_runs(report, runs, axis, y) {
	const lines = new Map();

	for (const region of report.total.regions.filter((one) => one.run)) {
		const point = { x: axis.at(runs[region.run - 1], region), y: Y_OF_REGION[y](region) };

		if (!lines.has(region.name))
			lines.set(region.name, []);
		if (is_known(point.x) && is_known(point.y))
			lines.get(region.name).push(point);
	}
	return [...lines].map(([name, points]) => ({ name, points: points.sort((a, b) => a.x - b.x) }));
}

const MINUTE = 60, HOUR = 3600, DAY = 86400;
const TIMES = [1, 5, 15, 30].map((n) => n * MINUTE).concat([1, 2, 6, 12].map((n) => n * HOUR), [1, 2, 7, 28, 91, 364].map((n) => n * DAY));

/* Round times. */
function times_of(first, last, n) {
	const step = TIMES.find((one) => one * n >= last - first) || (last - first) / n;
	const begin = Math.ceil(first / step) * step;

	return Array.from({ length: Math.floor((last - begin) / step) + 1 }, (_, i) => begin + i * step);
}

/* What stands below: {x, text}. */
function steps_of({ is_time, names }, first, last, n) {
	if (names)
		return names.map((text, x) => ({ x, text })).filter(({ x }) => x % Math.ceil(names.length / n) === 0);
	if (is_time)
		return times_of(first, last, n).map((x) => ({ x, text: date_of(x).slice(5, 16).replace("T", " ") }));
	return page.ticks(last - first || 1, n).map((step) => ({ x: first + step, text: `${+(first + step).toPrecision(6)}` }));
}

function draw_runs(lines, axis, width) {
	const all = lines.flatMap((line) => line.points);
	const [first, last] = [Math.min(...all.map((point) => point.x)), Math.max(...all.map((point) => point.x))];
	const most = Math.max(...all.map((point) => point.y), 1e-9);
	const at_x = (x) => SIDE + 30 + ((x - first) / (last - first || 1)) * (width - SIDE - 76);
	const at_y = (y) => 10 + (1 - y / most) * (RUNS_HEIGHT - 40);
	const shapes = [
		...page.ticks(most, 5).flatMap((y) => [
			page.shape("line", { x1: SIDE, x2: width, y1: at_y(y), y2: at_y(y), class: "rule" }),
			page.shape("text", { x: SIDE - 6, y: at_y(y) + 4, "text-anchor": "end", class: "dim" }, page.bytes(y))]),
		...(all.length ? steps_of(axis, first, last, Math.max(2, (width - SIDE) / 120)) : []).map(({ x, text }) =>
			page.label(at_x(x), RUNS_HEIGHT - 8, text, 100, { "text-anchor": "middle", class: "dim" })),
	];

	lines.forEach((line, i) => {
		shapes.push(page.shape("polyline", { points: line.points.map(({ x, y }) => `${at_x(x)},${at_y(y)}`).join(" "),
			class: `key-${i % page.DASHES.length}`, fill: "none", stroke: "currentColor", "stroke-width": 2,
			"stroke-dasharray": page.DASHES[i % page.DASHES.length].join(" ") }));
		for (const { x, y } of line.points)
			shapes.push(page.shape("circle", { cx: at_x(x), cy: at_y(y), r: 3.5, class: `key-${i % page.DASHES.length}`,
				fill: "currentColor" }, page.shape("title", {}, `${line.name}: ${page.bytes(y)}`)));
	});
	return { height: RUNS_HEIGHT, shapes };
}

function choice(label, names, changed) {
	const select = page.element("select", {}, names.map((name) => page.element("option", {}, name)));

	select.addEventListener("change", () => changed(select.value));
	return page.element("label", {}, `${label}: `, select, " ");
}

function add_runs(report) {
	if (!report.runs || report.runs.length < 2)
		return;
	const runs = runs_of(report);
	const axes = axes_of(report, runs);
	const box = page.element("div", {});
	const chosen = { axis: axes[0], y: "bytes" };
	const draw = () => {
		const lines = lines_of_runs(report, runs, chosen.axis, chosen.y);

		box.replaceChildren(page.drawing(`${chosen.y} of each region over ${chosen.axis.name} of the run`,
			(width) => draw_runs(lines, chosen.axis, width)),
			page.element("ul", { class: "legend" }, lines.map((line, i) => page.element("li", {}, page.sample(i), line.name))));
	};

	page.add(page.element("h2", {}, "Runs"), page.element("p", { class: "controls" },
		choice("Up", Object.keys(Y_OF_REGION), (y) => { chosen.y = y; draw(); }),
		choice("Across", axes.map(({ name }) => name), (name) => { chosen.axis = axes.find((axis) => axis.name === name); draw(); })), box,
	page.table("Runs", [{ name: "Run", number: true }, { name: "Nodes", number: true }, { name: "Ranks", number: true },
		{ name: "Began, UTC" }, { name: "Label (UNCORE_LABEL)" }],
	runs.map((run) => [`${run.number}`, page.count(run.nodes), page.count(run.ranks), page.time(date_of(run.begun_s)), run.label || ""])));
	draw();
}

/* --- against an older report --- */

const STEP = 24;

/* Ratios around 1, on a logarithmic axis: a line for the interval, and a point. */
function ratios(pairs, width) {
	const names = Math.min(260, width * 0.4);
	const reach = Math.max(1.1, ...pairs.flatMap((pair) => [pair.high, 1 / pair.low]).filter((one) => Number.isFinite(one)));
	const at = (ratio) => names + ((Math.log(ratio) / Math.log(reach) + 1) / 2) * (width - names - 24);
	const clip = (ratio) => at(Math.min(reach, Math.max(1 / reach, ratio)));
	const height = 26 + STEP * pairs.length;
	const shapes = [1 / reach, 1, reach].flatMap((ratio) => [
		page.shape("line", { x1: at(ratio), x2: at(ratio), y1: 18, y2: height, class: "rule" }),
		page.shape("text", { x: at(ratio), y: 12, "text-anchor": "middle", class: "dim" }, `${+ratio.toPrecision(3)}`)]);

	pairs.forEach((pair, i) => shapes.push(page.label(0, 34 + STEP * i, `${pair.region || ""} ${pair.metric}`, names - 8),
		page.shape("line", { x1: clip(pair.low), x2: clip(pair.high), y1: 30 + STEP * i, y2: 30 + STEP * i, class: "error" }),
		page.shape("circle", { cx: clip(pair.ratio), cy: 30 + STEP * i, r: 4.5, class: "own" })));
	return { height, shapes };
}

function add_against(more) {
	if (!more || !more.against)
		return;
	const known = more.against.filter((pair) => pair.why === undefined);

	page.add(page.element("h2", {}, `Against ${more.old}`));
	if (known.length)
		page.add(page.drawing("Ratios to the older report; the table below has the figures", (width) => ratios(known, width)));
	page.add(page.table("This report / the older one, as uncore compare judges it", [{ name: "Region" }, { name: "Metric" },
		{ name: "Ratio", number: true }, { name: "Interval", number: true }, { name: "Verdict" }],
	more.against.map((pair) => (pair.why === undefined
		? [pair.region || "", pair.metric, pair.ratio.toFixed(4), `${pair.low.toFixed(4)} to ${pair.high.toFixed(4)}`, pair.verdict]
		: [pair.region || "", pair.metric, "", "", `not comparable: ${pair.why}`]))));
}

/* --- the page --- */

function records_of(data) {
	return Array.isArray(data) ? data : [data.total || data];
}

function add_record(record) {
	page.add(page.note(record.failure, record.warning), page.element("p", {}, record.note));
	add_regions(record);
}

function title_of(data, first) {
	const hosts = data.total ? `${data.nodes.length} records of nodes` : first.host;

	if (is_of_job(first))
		return [`Memory traffic of ${first.job ? `job ${first.job}` : "jobs"}`, [user(first.uid), first.step ? `run ${first.step}` : "", hosts, first.begun, first.ended,
			is_known(first.seconds) ? page.seconds(first.seconds) : "", first.exit ? `exit ${first.exit}` : ""]];
	return [`Memory traffic of ${first.command || "a program"}`, [hosts, first.begun, first.job ? `job ${first.job}` : "",
		first.step ? `step ${first.step}` : "", first.label ? `label ${first.label}` : ""]];
}

function add_title(data, first) {
	const [title, facts] = first ? title_of(data, first) : ["Memory traffic: there is nothing to show", []];

	page.title(title, first ? [...facts, first.platform ? `platform ${first.platform}` : "",
		first.version ? `uncore ${first.version}` : ""] : facts);
}

function add_all() {
	const data = page.data || [];
	const records = page.data ? records_of(data) : [];

	add_title(data, records[0]);
	page.add(page.note(...(data.notes || [])));
	for (const record of records) {
		if (records.length > 1)
			page.add(page.element("h2", {}, `${record.command || "A program"}, ${record.host}, ${record.begun}`));
		add_record(record);
		if (!is_of_job(record)) {
			add_work(record);
			add_roofline(record);
		}
		if (!data.total)
			add_ranks(ranks_of_record(record), record.members.length);
	}
	add_against(page.more);
	add_runs(data);
	if (data.total)
		add_ranks(ranks_of_nodes(data), sum(data.nodes.map((node) => node.ranks)));
	add_nodes(data);
	add_others(data.other_jobs);
}

add_all();
