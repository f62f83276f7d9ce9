/* SPDX-License-Identifier: BSD-3-Clause */
/* What all kinds of pages share. Texts of reports become text nodes only, never HTML. */
"use strict";

const page = {
	data: JSON.parse(document.getElementById("data").textContent),
	more: JSON.parse((document.getElementById("more") || { textContent: "null" }).textContent),

	/* An element; a child is an element or a text, and null is left out. */
	element(name, attributes, ...children) {
		return page.fill(document.createElement(name), attributes, children);
	},

	/* Part of a drawing. Of styles it has attributes alone, because the policy forbids others. */
	shape(name, attributes, ...children) {
		return page.fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
	},

	fill(element, attributes, children) {
		for (const [key, value] of Object.entries(attributes || {}))
			element.setAttribute(key, value);
		element.append(...children.flat().filter((child) => child !== null && child !== undefined));
		return element;
	},

	/* How lines are told apart where colours are not; their colours are in the style sheet. */
	DASHES: [[], [6, 3], [2, 2], [10, 3, 2, 3], [14, 4], [4, 4, 1, 4]],

	/* A piece of line i, for a legend. */
	sample(i) {
		const kind = i % page.DASHES.length;

		return page.shape("svg", { width: 28, height: 10, class: `key-${kind}`, "aria-hidden": "true" },
			page.shape("line", { x1: 0, x2: 28, y1: 5, y2: 5, stroke: "currentColor", "stroke-width": 2,
				"stroke-dasharray": page.DASHES[kind].join(" ") }));
	},

	/* Adds elements to the page. */
	add(...elements) {
		document.getElementById("page").append(...elements.filter((element) => element));
	},

	title(text, facts) {
		document.title = text;
		page.add(page.element("h1", {}, text), page.element("p", { class: "dim" }, facts.filter((fact) => fact).join(" · ")));
	},

	/* Sentences that a reader must not miss; those that are not there are left out. */
	note(...texts) {
		const lines = texts.filter((text) => text);

		return lines.length ? page.element("div", { class: "note" }, lines.map((line) => page.element("p", {}, line))) : null;
	},

	/*
	 * Columns are {name, number}, cells texts or elements; the first cell of a row is its heading.
	 */
	table(caption, columns, rows) {
		const kind = (column) => (columns[column].number ? { class: "number" } : {});
		const cell = (content, column) => page.element(column ? "td" : "th",
			column ? kind(column) : { scope: "row", ...kind(column) }, content);
		const head = columns.map((column, i) => page.element("th", { scope: "col", ...kind(i) }, column.name));

		return page.element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": caption },
			page.element("table", {}, page.element("caption", {}, caption),
				page.element("thead", {}, page.element("tr", {}, head)),
				page.element("tbody", {}, rows.map((row) => page.element("tr", {}, row.map(cell))))));
	},

	/* "12,345" */
	count(number) {
		return Math.round(number).toLocaleString("en-US");
	},

	/* Bytes as people read them: "1.23 GB". */
	bytes(number) {
		const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
		let unit = 0;

		while (Math.abs(number) >= 999.5 && unit + 1 < units.length) {
			number /= 1000;
			unit++;
		}
		return `${unit ? number.toPrecision(3) : number} ${units[unit]}`;
	},

	/* Of bytes per ns, or of another unit per ns. */
	rate(number, unit) {
		if (unit === "bytes")
			return number < 1000 ? `${number.toFixed(3)} GB/s` : `${(number / 1000).toFixed(3)} TB/s`;
		return `${(1e9 * number).toPrecision(4)} ${unit}/s`;
	},

	/* "2026-11-21 22:16:40", in UTC, of "2026-11-21T22:16:40.000Z". */
	time(text) {
		return text ? page.element("time", { datetime: text }, text.replace("T", " ").replace(/(\.\d+)?Z$/, "")) : "unknown";
	},

	seconds(number) {
		return `${number >= 100 ? number.toFixed(1) : number.toPrecision(3)} s`;
	},

	/* A drawing that is made anew for each width of its box; draw(width) returns its height and shapes. */
	drawing(label, draw) {
		const box = page.element("div", { class: "chart" });
		let drawn = 0;

		new ResizeObserver(() => {
			const width = Math.floor(box.clientWidth);

			if (width === drawn)
				return;
			drawn = width;
			const { height, shapes } = draw(width);

			box.replaceChildren(page.shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
				"aria-label": label }, shapes));
		}).observe(box);
		return box;
	},

	/* Steps of 1, 2 or 5 for an axis that ends at most: about n of them. */
	ticks(most, n) {
		const rough = most / n;
		const power = 10 ** Math.floor(Math.log10(rough));
		const step = [1, 2, 5, 10].find((k) => k * power >= rough) * power;

		return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
	},

	/* A text in a drawing, cut to a width; the whole is told under the pointer. */
	label(x, y, text, width, attributes) {
		const fits = Math.max(3, Math.floor(width / 7));
		const end = Math.floor(fits / 2); /* the number of a run is there */

		return page.shape("text", { x, y, ...attributes }, text.length > fits ? `${text.slice(0, fits - 1 - end)}…${text.slice(-end)}` : text,
			text.length > fits ? page.shape("title", {}, text) : null);
	},

	color(name) {
		return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	},

	/* Calls back when the colours have changed: dark, light, or paper. */
	when_colors_change(callback) {
		for (const query of ["(prefers-color-scheme: dark)", "print"])
			matchMedia(query).addEventListener("change", callback);
		addEventListener("beforeprint", callback);
		addEventListener("afterprint", callback);
	},
};

document.getElementById("text").open = false;
