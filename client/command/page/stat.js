/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of `uncore stat`: page.data is its JSON, page.more the course. */
"use strict";

const LINES = page.DASHES.length;
const HEIGHT = 240;

/* --- times and values --- */

const course = page.more;
const places = [...page.data.sockets, { metrics: page.data.all_sockets ? page.data.all_sockets.metrics : {} }, ...(page.data.parts || [])];

/* Columns are in the order of the values of the result. Each has {rate, and perhaps least, most and quality}. */
const columns = places.flatMap((item) => Object.entries(item.metrics).map(([metric, { unit }]) =>
	({ socket: item.socket, part: item.part, metric, unit: unit || "bytes" })))
	.map((name, i) => ({ ...name, ...course.columns[i], is_known: Boolean(course.columns[i]) }));

/* A clock has no course. */
const shown = columns.filter((series) => series.is_known && series.unit !== "ns" && !series.metric.startsWith("check."));
const seconds = course.end_us.map((us) => us / 1e6);
const begins = course.begin_us.map((us) => us / 1e6);

/* A line of steps has each value up to the end of its interval; where nothing was measured, it has a gap. */
function times() {
	const out = { x: [], of: [] }; /* the place of each x in the course, or null */
	const add = (x, i) => {
		out.x.push(x);
		out.of.push(i);
	};

	seconds.forEach((end, i) => {
		if (i && begins[i] > seconds[i - 1] + 1e-5)
			add(begins[i] - 1e-6, null);
		if (!i || begins[i] > seconds[i - 1] + 1e-5)
			add(begins[i], i);
		add(end, i);
	});
	return out;
}

const axis = times();
const spread_out = (values) => axis.of.map((i) => (i === null ? null : values[i]));

function words_of(series, i) {
	const flags = series.quality ? series.quality[i] : 0;

	return course.words.filter((word, bit) => (flags >>> bit) & 1);
}

function most_of(series) {
	return (series.most || series.rate).reduce((most, value) => Math.max(most, value || 0), 0);
}

/* --- which lines share a chart --- */

function place_of(item) {
	return item.socket === undefined ? "all sockets" : `socket ${item.socket}`;
}

/* Of parts a chart has one metric, otherwise one place. */
function group_of(series) {
	return series.part === undefined
		? { title: place_of(series), name: series.metric }
		: { title: `${place_of(series)}, parts: ${series.metric}`, name: series.part };
}

function groups() {
	const all = new Map();

	for (const series of shown) {
		const { title, name } = group_of(series);
		const key = `${title}, ${series.unit}`;

		if (!all.has(key))
			all.set(key, { title, unit: series.unit, is_part: series.part !== undefined, lines: [] });
		all.get(key).lines.push({ name, series });
	}
	/* What all sockets did comes first; of one socket it says the same twice. */
	const one = new Set(shown.map((series) => series.socket)).size <= 2;
	const list = [...all.values()].filter((group) => !(one && group.title === "all sockets"));

	return list.sort((a, b) => a.is_part - b.is_part || (b.title === "all sockets") - (a.title === "all sockets"));
}

/* --- a chart --- */

const plots = [];

/* All charts show the same time; uPlot sees to it when one is dragged over. */
function zoom(min, max) {
	const [first, last] = [axis.x[0], axis.x[axis.x.length - 1]];

	for (const plot of plots)
		plot.setScale("x", { min: Math.max(first, min), max: Math.min(last, max) });
}

function zoom_by(plot, factor) {
	const { min, max } = plot.scales.x;
	const middle = plot.cursor.idx === null || plot.cursor.idx === undefined ? (min + max) / 2 : axis.x[plot.cursor.idx];

	zoom(middle - (middle - min) * factor, middle + (max - middle) * factor);
}

function show_all() {
	zoom(axis.x[0], axis.x[axis.x.length - 1]);
}

/* uPlot's series and data of a line; with decimation the band between the least and the most, too. */
function line_of(line, i, data) {
	const color = () => page.color(`--line-${i % LINES}`);
	const stepped = uPlot.paths.stepped({ align: -1 });
	const all = [{ label: line.name, stroke: color, width: 1.5, dash: page.DASHES[i % LINES], paths: stepped,
		points: { show: false } }];

	line.at = data.length;
	data.push(spread_out(line.series.rate));
	for (const end of line.series.most ? ["most", "least"] : []) {
		data.push(spread_out(line.series[end]));
		all.push({ label: `${line.name}, ${end}`, stroke: color, width: 0.5, paths: stepped, points: { show: false } });
	}
	return all;
}

function bands_of(lines) {
	return lines.filter((line) => line.series.most).map((line, i) => ({
		series: [line.at + 1, line.at + 2],
		fill: () => `${page.color(`--line-${i % LINES}`)}30`,
	}));
}

/* A number that an axis has room for. */
function short(number) {
	return number >= 1e6 ? number.toExponential(1) : `${+number.toPrecision(6)}`;
}

function draw(group, most, box, reading) {
	const data = [axis.x];
	const series = [{}, ...group.lines.flatMap((line, i) => line_of(line, i, data))];
	const axis_look = { stroke: () => page.color("--dim"), grid: { stroke: () => page.color("--rule"), width: 1 },
		ticks: { stroke: () => page.color("--rule"), width: 1 }, font: "12px system-ui, sans-serif" };
	const factor = group.unit === "bytes" ? 1 : 1e9;

	return new uPlot({
		width: box.clientWidth,
		height: HEIGHT,
		legend: { show: false },
		cursor: { sync: { key: "time", scales: ["x", null] }, y: false, points: { show: false } },
		scales: { x: { time: false }, y: { range: [0, 1.05 * most || 1] } },
		axes: [
			{ ...axis_look, values: (plot, ticks) => ticks.map((tick) => `${+tick.toPrecision(12)} s`) },
			{ ...axis_look, size: 64, values: (plot, ticks) => ticks.map((tick) => short(factor * tick)) },
		],
		series,
		bands: bands_of(group.lines),
		hooks: {
			setCursor: [(plot) => tell(group, plot.cursor.idx, reading)],
		},
	}, data, box);
}

/* --- the values under the pointer --- */

function value_text(line, unit, i) {
	const { series } = line;
	const words = words_of(series, i).join(", ");

	if (series.rate[i] === null)
		return `${line.name} absent`;
	const ends = series.most ? `, ${page.rate(series.least[i], unit)} to ${page.rate(series.most[i], unit)}` : "";
	return `${line.name} ${page.rate(series.rate[i], unit)}${ends}${words ? ` (${words})` : ""}`;
}

function tell(group, at, reading) {
	const i = at === null || at === undefined ? null : axis.of[at];

	reading.textContent = i === null || i === undefined ? ""
		: `${begins[i].toFixed(3)} to ${seconds[i].toFixed(3)} s: ` +
			group.lines.map((line) => value_text(line, group.unit, i)).join("; ");
}

function move(plot, step) {
	const { min, max } = plot.scales.x;
	const from = plot.cursor.idx === null || plot.cursor.idx === undefined ? 0 : plot.cursor.idx;
	let to = Math.min(Math.max(from + step, 0), axis.x.length - 1);

	if (axis.of[to] === null)
		to += step < 0 && to ? -1 : 1;
	if (axis.x[to] < min || axis.x[to] > max)
		zoom(axis.x[to] - (max - min) / 2, axis.x[to] + (max - min) / 2);
	plot.setCursor({ left: plot.valToPos(axis.x[to], "x"), top: 0 });
}

function on_key(plot, event) {
	const far = event.shiftKey ? 10 : 1;
	const actions = {
		ArrowLeft: () => move(plot, -far), ArrowRight: () => move(plot, far),
		Home: () => move(plot, -axis.x.length), End: () => move(plot, axis.x.length),
		"+": () => zoom_by(plot, 0.5), "-": () => zoom_by(plot, 2), 0: show_all, Escape: show_all,
	};

	if (!actions[event.key] || event.ctrlKey || event.altKey || event.metaKey)
		return;
	event.preventDefault();
	actions[event.key]();
}

/* --- a chart and what is around it --- */

function legend_of(group, plot) {
	return page.element("ul", { class: "legend" }, group.lines.map((line, i) => {
		const button = page.element("button", { type: "button", "aria-pressed": "true" }, page.sample(i), line.name);

		button.addEventListener("click", () => {
			const show = button.getAttribute("aria-pressed") === "false";

			button.setAttribute("aria-pressed", show);
			for (let k = line.at; k <= line.at + (line.series.most ? 2 : 0); k++)
				plot.setSeries(k, { show });
		});
		return page.element("li", {}, button);
	}));
}

function add_chart(group, most) {
	const what = group.unit === "bytes" ? "GB/s" : `${group.unit}/s`;
	const box = page.element("div", { class: "chart", tabindex: 0, role: "group",
		"aria-label": `Chart of ${group.title}, ${what} over seconds. Arrow keys move, + and - zoom, 0 shows all.` });
	const reading = page.element("p", { class: "reading dim", "aria-live": "polite" });

	page.add(page.element("h3", {}, `${group.title[0].toUpperCase()}${group.title.slice(1)} in ${what}`), box);
	const plot = draw(group, most, box, reading);

	plots.push(plot);
	box.addEventListener("keydown", (event) => on_key(plot, event));
	page.add(legend_of(group, plot), reading);
	new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: HEIGHT })).observe(box);
}

function add_controls() {
	const button = (text, action) => {
		const made = page.element("button", { type: "button" }, text);

		made.addEventListener("click", action);
		return made;
	};

	page.add(page.element("p", { class: "controls" },
		button("Zoom in", () => zoom_by(plots[0], 0.5)), " ", button("Zoom out", () => zoom_by(plots[0], 2)), " ",
		button("Show all", show_all), " ",
		page.element("span", { class: "dim" }, "Drag over a chart to zoom; with the keyboard: arrows, + and -, 0.")));
}

function add_course() {
	const list = groups();
	const n = course.intervals_per_point;

	page.add(page.element("h2", {}, "Over time"));
	if (!list.length) {
		page.add(page.element("p", {}, "There are no figures over time: no interval was measured to its end."));
		return;
	}
	page.add(page.element("p", { class: "dim" }, `${page.count(course.intervals)} intervals. ` + (n > 1
		? `A line shows the mean of ${n} intervals, and the band around it the least and the most of them.` : "")));
	add_controls();
	/* Charts of one kind have one scale, so that they can be compared. */
	for (const group of list) {
		const alike = list.filter((other) => other.unit === group.unit && other.is_part === group.is_part &&
			(other.title === "all sockets") === (group.title === "all sockets"));

		add_chart(group, Math.max(...alike.flatMap((other) => other.lines.map((line) => most_of(line.series)))));
	}
	page.when_colors_change(() => plots.forEach((plot) => plot.redraw(false, true)));
}

/* --- the figures of the whole --- */

function course_of(item, metric) {
	return columns.find((series) => series.is_known && series.socket === item.socket && series.part === item.part &&
		series.metric === metric);
}

function row_of(item, name, metric) {
	const place = item.part === undefined ? place_of(item) : `${item.part} of ${place_of(item)}`;
	const series = course_of(item, name);
	const unit = metric.unit || "bytes";
	const count = metric.bytes === undefined ? metric.value : metric.bytes;

	const window_ns = item.window_ns || page.data.window_ns;

	return [place, name, unit === "bytes" ? page.count(count) : `${page.count(count)} ${unit}`,
		window_ns && unit !== "ns" ? page.rate(count / window_ns, unit) : "",
		series && unit !== "ns" ? page.rate(most_of(series), unit) : "", metric.quality.join(", ")];
}

/* A line for each reason. */
function absent(metrics) {
	const names = new Map();

	for (const { item, name, metric } of metrics.filter((one) => one.metric.absent !== undefined && one.item.socket !== undefined)) {
		if (!names.has(metric.absent))
			names.set(metric.absent, new Map());
		names.get(metric.absent).set(name, [...(names.get(metric.absent).get(name) || []), place_of(item)]);
	}
	return [...names].map(([why, all]) => page.element("p", {}, `Absent: ${[...all].map(([name, places]) =>
		`${name} (${[...new Set(places)].join(", ")})`).join(", ")}. ${why}`));
}

function add_figures() {
	const all = page.data.sockets.length > 1 && page.data.all_sockets ? [page.data.all_sockets] : [];
	const items = [...page.data.sockets, ...all, ...(page.data.parts || [])];
	const metrics = items.flatMap((item) => Object.entries(item.metrics).filter(([name]) => !name.startsWith("check."))
		.map(([name, metric]) => ({ item, name, metric })));
	const rows = metrics.filter(({ metric }) => metric.absent === undefined)
		.map(({ item, name, metric }) => row_of(item, name, metric));

	page.add(page.element("h2", {}, "The whole time"));
	page.add(page.table(page.data.runs > 1 ? `Means of ${page.data.runs} runs` : "Counts and rates", [
		{ name: "Where" }, { name: "Metric" }, { name: "Bytes", number: true }, { name: "Mean rate", number: true },
		{ name: "Highest rate of an interval", number: true }, { name: "Quality" },
	], rows), ...absent(metrics));
}

/* --- the page --- */

function add_all() {
	const { data } = page;
	const subject = data.command.length ? `while ${data.command.join(" ")} ran` : "of all programs";
	const wall = (data.wall_ns || []).reduce((sum, ns) => sum + ns, 0) / 1e9;

	page.title(`Memory traffic ${subject}`, [data.host, data.begun, `platform ${data.platform}`,
		wall ? page.seconds(wall) : "", data.runs > 1 ? `${data.runs} runs` : "", `uncore ${data.version}`]);
	page.add(page.note(data.failure, course.caveat));
	page.add(page.element("p", {}, "Everything that the sockets did is counted, not only one program."));
	add_course();
	if (data.runs)
		add_figures();
}

add_all();
