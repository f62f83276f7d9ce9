/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of `uncore validate`: page.data is its JSON. */
"use strict";

const ROW = 40, TOP = 30;
const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);
const percent = (share) => `${(100 * share).toFixed(2)} %`;
const is_shown = (name) => /\.(read|write|total)$/.test(name) && !name.startsWith("check.");

/* --- what a kernel moved, and what the counters showed of it --- */

const predicted_of = (kernel) => sum(Object.values(kernel.predicted));

/* Of all sockets: a counter may show the bytes on another one. */
function shown_of(kernel) {
	const all = new Map();

	for (const socket of kernel.shown)
		for (const [name, bytes] of Object.entries(socket).filter(([metric]) => is_shown(metric)))
			all.set(name, (all.get(name) || 0) + bytes);
	return all;
}

const shown_sum = (kernel) => sum([...shown_of(kernel).values()]);

/* --- pairs of bars: predicted above, shown below --- */

function bars(pairs, write, width) {
	const names = Math.min(140, width * 0.25);
	const most = Math.max(...pairs.flatMap((pair) => [pair.predicted, pair.shown]), 1e-9);
	const at = (value) => names + (Math.max(0, value) / most) * (width - names - 32);
	const shapes = page.ticks(most, Math.max(2, (width - names) / 130)).flatMap((tick) => [
		page.shape("line", { x1: at(tick), x2: at(tick), y1: TOP - 8, y2: TOP + ROW * pairs.length, class: "rule" }),
		page.shape("text", { x: at(tick), y: 14, "text-anchor": "middle", class: "dim" }, write(tick)),
	]);

	pairs.forEach((pair, i) => shapes.push(page.label(0, TOP + ROW * i + 18, pair.name, names - 8),
		page.shape("rect", { x: names, y: TOP + ROW * i, width: at(pair.predicted) - names, height: 12, class: "read" }),
		page.shape("rect", { x: names, y: TOP + ROW * i + 13, width: at(pair.shown) - names, height: 12, class: "write" })));
	return { height: TOP + ROW * pairs.length, shapes };
}

function key(kind, text) {
	return page.element("li", {}, page.shape("svg", { width: 28, height: 12, "aria-hidden": "true" },
		page.shape("rect", { width: 28, height: 12, class: kind })), text);
}

function add_bars(label, pairs, write) {
	page.add(page.drawing(`${label}; the table below has the figures`, (width) => bars(pairs, write, width)),
		page.element("ul", { class: "legend" }, key("read", "predicted"), key("write", "shown by the counters")));
}

/* --- a node --- */

function kernel_row(kernel) {
	const { read, allocated, written } = kernel.predicted;
	const shown = [...shown_of(kernel)].map(([name, bytes]) => `${name} ${page.bytes(Math.round(bytes))}`).join(", ");

	return [kernel.kernel, `${kernel.threads}`, page.bytes(read), page.bytes(allocated), page.bytes(written), shown,
		(shown_sum(kernel) / predicted_of(kernel)).toFixed(4), percent(kernel.error), percent(kernel.background),
		`${kernel.repetitions}`, kernel.evaded === undefined ? "" : percent(kernel.evaded)];
}

function add_kernels(node) {
	page.add(page.element("h3", {}, "Kernels"));
	add_bars(`Bytes of each kernel on node ${node.node}`, node.kernels.map((kernel) =>
		({ name: kernel.kernel, predicted: predicted_of(kernel), shown: shown_sum(kernel) })), page.bytes);
	page.add(page.table(`Kernels on node ${node.node}. Allocated: lines that are read before they are written, ` +
		"unless the processor evades that", [["Kernel"], ["Threads", true], ["Read", true], ["Allocated", true], ["Written", true],
		["Shown"], ["Shown / predicted", true], ["Error", true], ["Background", true], ["Repetitions", true], ["Evaded", true]]
		.map(([name, number]) => ({ name, number })), node.kernels.map(kernel_row)));
}

function add_channels(node) {
	const channels = Object.entries(node.channels);
	const share = node.expected_of_channel || 1 / channels.length;

	page.add(page.element("h3", {}, "Channels"));
	if (!channels.length) {
		page.add(page.element("p", {}, "The counters do not tell channels apart."));
		return;
	}
	add_bars(`Share of each channel of node ${node.node}`, channels.map(([name, shown]) => ({ name, predicted: share, shown })), percent);
	page.add(page.table(`Channels of node ${node.node}: shares of the bytes of kernel ${node.kernels[0].kernel}, if all have as many`,
		[{ name: "Channel" }, { name: "Predicted", number: true }, { name: "Shown", number: true }],
		channels.map(([name, shown]) => [name, percent(share), percent(shown)])));
	if (node.own_channels)
		page.add(page.element("p", {}, `This node's own channels: ${node.own_channels}.`));
}

function add_metrics(node) {
	page.add(page.element("h3", {}, "Metrics"), page.table(`Metrics of node ${node.node}: the share that each shows of the bytes read, ` +
		"and of those written", [{ name: "Metric" }, { name: "Of reads", number: true }, { name: "Of writes", number: true },
		{ name: "Error", number: true }], node.metrics.map((metric) =>
		[metric.metric, metric.reads.toFixed(4), metric.writes.toFixed(4), metric.error.toFixed(4)])));
	for (const one of node.calibration || [])
		page.add(page.element("p", {}, `${one.metric}: the right value is the shown one times ${one.factor.toFixed(4)} ± ` +
			`${one.error.toFixed(4)}${one.bytes ? `; a count is worth ${one.bytes} bytes` : ""}.`));
}

function add_node(node) {
	page.add(page.element("h2", {}, `Node ${node.node}${node.socket === undefined ? "" : `, socket ${node.socket}`}: ${node.outcome}`));
	page.add(page.element("p", { class: "dim" }, `${node.cores} core${node.cores === 1 ? "" : "s"}, ${page.bytes(node.cache_bytes)} of cache` +
		`${node.memory_only ? ", memory without processors" : ""}`));
	page.add(page.note(...node.findings));
	if (!node.kernels)
		return;
	add_channels(node);
	add_kernels(node);
	add_metrics(node);
	if (node.remote)
		page.add(page.element("p", {}, `From the memory of node ${node.remote.memory_of_node}: ${page.bytes(node.remote.predicted)} ` +
			`predicted, ${page.bytes(Math.round(shown_sum(node.remote)))} shown.`));
	page.add(page.element("p", {}, node.peak_absent ? `No bandwidth: ${node.peak_absent}`
		: `The most that a kernel moved: ${page.rate(node.peak_bytes_per_ns, "bytes")}.`));
}

/* --- the page --- */

function add_all() {
	const { data } = page;

	if (!data) {
		page.title("Counters: nothing was measured", []);
		return;
	}
	page.title(`Counters of this machine: ${data.outcome}`, [data.host, `platform ${data.platform}`,
		data.processor["model name"] || data.processor.cpu, `Linux ${data.kernel}`, data.architecture, data.date, `uncore ${data.uncore}`]);
	page.add(page.note(data.simulated ? "SIMULATED: bytes that a model of caches counted, not memory traffic of this machine." : ""));
	page.add(page.element("p", {}, "Kernels whose traffic is known ran on each node; the counters are compared with it."));
	for (const node of data.nodes)
		add_node(node);
	if (data.nodes_left_out)
		page.add(page.element("p", {}, `Left out, because of their number: ${data.nodes_left_out} nodes.`));
	page.add(page.element("h2", {}, "Machine"), page.table("What the kernel says of the first processor", [{ name: "Key" }, { name: "Value" }],
		Object.entries(data.processor)));
}

add_all();
