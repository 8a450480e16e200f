// The charts whose columns are steps: graph, sharding, L1.
const moved = [];

// A name that is too long without its last word, if that is no number, or its ends.
function ends(name, most) {
	const short = name.replace(/[./][^./0-9]+$/, "…");
	if (name.length > most && short.length > 1 && short.length <= most)
		return short;
	const left = Math.max(2, Math.floor(most) - 1), head = Math.floor(left * .4);
	return name.length > most ? name.slice(0, head) + "…" + name.slice(head - left) : name;
}

// Images of half the height stand a level lower.
function levels() {
	const heights = net.steps.map((s) => tensorOf(s)?.height ?? 1);
	const top = Math.max(...heights);
	return heights.map((h) => Math.max(0, Math.round(Math.log2(top / Math.max(1, h)))));
}

// Who made a tensor last before a step.
function makers() {
	const maker = new Map();
	return net.steps.map((s, i) => {
		const from = s.in.map((t) => maker.get(t)).filter((m) => m !== undefined);
		if (s.out >= 0)
			maker.set(s.out, i);
		return [...new Set(from)];
	});
}

function drawGraph() {
	const level = levels(), from = makers();
	const deep = Math.max(...level);
	const names = state.width >= 13 ? 92 : 14;
	const height = names + (deep + 1) * 30 + 14;
	const chart = columnsChart("graph", height);
	const x = (i) => columnX(i) + state.width / 2;
	const y = (i) => names + level[i] * 30 + 18;
	const edges = svg("g"), nodes = svg("g");
	from.forEach((makersOf, i) => makersOf.forEach((m) => {
		const bow = i - m > 1 && level[i] === level[m] ? Math.min(26, 8 + (i - m)) : 0;
		edges.append(svg("path", { class: "edge",
			d: `M${x(m)} ${y(m)}Q${(x(m) + x(i)) / 2} ${Math.min(y(m), y(i)) - bow} ${x(i)} ${y(i)}` }));
	}));
	net.steps.forEach((s, i) => {
		const wide = Math.max(3, Math.min(46, state.width - 3));
		nodes.append(svg("rect", { class: "node", x: x(i) - wide / 2, y: y(i) - 7, width: wide,
			height: 14, rx: s.moves ? 7 : 2, fill: colour(cause(bound(s))), "data-tip": `step ${i}`,
			"data-step": i }));
		if (names > 20)
			nodes.append(svg("text", { x: 0, y: 0, class: "dim",
				transform: `translate(${x(i) + 3} ${names - 4}) rotate(-62)` },
				ends(s.name, 18)));
	});
	for (let k = 0; k <= deep; k++) {
		const at = level.indexOf(k);
		const t = at < 0 ? null : tensorOf(net.steps[at]);
		if (t)
			chart.append(svg("text", { class: "dim", x: 2, y: names + k * 30 + 22 },
				`${t.height}×${t.width}`));
	}
	chart.append(edges, nodes);
	moved.push(markColumn(chart, height));
}

// How a tensor is cut, in a word.
function shardOf(t) {
	if (!t)
		return "one";
	if (t.place === "dram")
		return "in-dram";
	if (t.bands > 1 && t.splits > 1)
		return "block";
	return t.bands > 1 ? "height" : t.splits > 1 ? "width" : "one";
}

tellers.shard = (i) => {
	const s = net.steps[i], t = tensorOf(s);
	return `${s.name}: ${s.moves ? s.kind + " to " : ""}${shardOf(t).replace("in-", "in ")}` +
		(t ? `, ${t.bands} bands × ${t.splits} splits, ${t.type}\n` +
			`${t.channels} channels of ${t.height}×${t.width}, ${bytes(t.bytes)} bytes a core` : "");
};

function drawStrip() {
	const height = 38;
	const chart = columnsChart("strip", height);
	const edge = Math.min(7, state.width / 2);
	chart.append(svg("text", { class: "dim", x: 2, y: 18 }, "cut"));
	net.steps.forEach((s, i) => {
		const t = tensorOf(s);
		chart.append(svg("rect", { class: "cell", x: columnX(i), y: 4, width: state.width, height: 20,
			fill: colour(shardOf(t)), "data-tip": `shard ${i}`, "data-step": i }));
		if (state.width >= 34 && t)
			chart.append(svg("text", { x: columnX(i) + 3, y: 18, "pointer-events": "none" },
				`${t.bands}×${t.splits}`));
		if (!s.moves)
			return;
		const x = columnX(i) + state.width / 2;
		chart.append(svg("path", { class: "move", d: `M${x} 25l${edge} 11h${-2 * edge}z`, fill: colour("dram"),
			"data-tip": `shard ${i}`, "data-step": i }));
	});
	moved.push(markColumn(chart, height));
}

const kindColour = (kind) => colour(net.kinds[kind] === "tensor" ? "tensor" : net.kinds[kind]);

tellers.buffer = (k) => {
	const b = net.buffers[k];
	return `${b.name}: ${net.kinds[b.kind]}\n${bytes(b.bytes)} bytes at ${hex(b.at)}…${hex(b.at + b.bytes - 1)}\n` +
		`steps ${b.born} to ${b.dies}`;
};

// Where the axis of L1 ends: at the limit, or if most of it is free where buffers do.
const l1Axis = (() => {
	const used = Math.max(...net.buffers.map((b) => b.at + b.bytes), net.l1_first + 1) - net.l1_first;
	return used * 2 < net.l1_room ? used : net.l1_room;
})();

const l1AxisNote = () => (l1Axis < net.l1_room
	? ` (up to where buffers end; the limit is ${hex(net.l1_first + net.l1_room)})` : "");

function drawL1() {
	const height = 300, above = 8;
	const chart = columnsChart("l1", height + above + 14);
	const scale = height / l1Axis;
	const y = (address) => above + height - (address - net.l1_first) * scale;
	for (let k = 0; k <= 4; k++) {
		const address = net.l1_first + (l1Axis * k) / 4;
		chart.append(svg("line", { class: "grid", x1: left, x2: columnX(net.steps.length), y1: y(address),
			y2: y(address) }), svg("text", { class: "dim", x: 2, y: y(address) + 3 }, hex(Math.round(address))));
	}
	net.buffers.forEach((b, k) => {
		chart.append(svg("rect", { class: b.kind ? "buffer" : "buffer tensor", x: columnX(b.born) + .5,
			y: y(b.at + b.bytes), width: Math.max(1, (b.dies - b.born + 1) * state.width - 1),
			height: Math.max(.8, b.bytes * scale), fill: kindColour(b.kind), "data-tip": `buffer ${k}`,
			"data-step": b.born }));
		if ((b.dies - b.born + 1) * state.width > 60 && b.bytes * scale > 11)
			chart.append(svg("text", { x: columnX(b.born) + 4, y: y(b.at + b.bytes) + 10, "pointer-events": "none" },
				ends(b.name, ((b.dies - b.born + 1) * state.width - 8) / 6)));
	});
	chart.append(svg("text", { class: "dim", x: Math.max(2, columnX(net.peak_step) - 30),
		y: height + above + 11 }, `fullest: ${percent(net.peak, net.l1_room)}`));
	moved.push(markColumn(chart, height + above));
}

function drawColumns() {
	moved.length = 0;
	drawGraph();
	drawStrip();
	drawL1();
}

// Keeps the selected column in sight.
function follow(box) {
	const x = columnX(state.step);
	if (x < box.scrollLeft + left || x + state.width > box.scrollLeft + box.clientWidth)
		box.scrollLeft = x - box.clientWidth / 2;
}

onSelect(() => {
	moved.forEach((move) => move());
	follow(byId("net"));
});
