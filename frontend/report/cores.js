// One step: what was chosen, what lies in L1 of each core, and the buffers by address.
const alive = (step) => net.buffers.map((b, k) => ({ b, k }))
	.filter(({ b }) => b.born <= step && step <= b.dies);

// What a core has of a buffer: [own, halo].
function heldBy(buffer, core) {
	for (const [own, halo, cores] of buffer.held) {
		if (core < cores)
			return [own, halo];
		core -= cores;
	}
	return [0, 0];
}

// Bytes of one core by what they hold. A buffer is as large everywhere as where it is
// fullest: what of it a core has no use for is `spare`.
function contents(step, core) {
	const sum = { shard: 0, halo: 0, weights: 0, sums: 0, host: 0, spare: 0 };
	for (const { b } of alive(step)) {
		const [own, halo] = heldBy(b, core);
		if (b.kind === 0) {
			sum.shard += own;
			sum.halo += halo;
		} else {
			sum[net.kinds[b.kind]] += own;
		}
		sum.spare += Math.max(0, b.bytes - own - halo);
	}
	sum.free = Math.max(0, net.l1_room - Object.values(sum).reduce((a, v) => a + v, 0));
	return sum;
}

const heldNames = [["shard", "what the core owns of tensors", "tensor"], ["halo", "rows of other cores", "halo"],
	["weights", "circular buffer of weights", "weights"], ["sums", "partial sums", "sums"],
	["host", "circular buffer of rows from or to the host", "host"],
	["spare", "of buffers, unused on this core: zeros and padding", "one"], ["free", "no buffer", "free"]];

tellers.core = (core) => {
	const sum = contents(state.step, core);
	return `core (${core % net.cols},${Math.floor(core / net.cols)})\n` +
		heldNames.map(([name]) => `${name} ${bytes(sum[name])}`).join("\n");
};

function drawCores(step) {
	const w = 40, h = 44, chart = byId("cores");
	sizeChart(chart, net.cols * w + 2, net.rows * h + 2);
	for (let core = 0; core < net.cores; core++) {
		const x = 1 + (core % net.cols) * w, y = 1 + Math.floor(core / net.cols) * h;
		const sum = contents(step, core);
		const cell = svg("g", { "data-tip": `core ${core}` });
		let top = y + 2;
		sum.free -= net.l1_room - l1Axis;
		for (const [name, , fill] of [...heldNames].reverse()) {
			const high = Math.max(0, (sum[name] / l1Axis) * (h - 4));
			cell.append(svg("rect", { x: x + 2, y: top, width: w - 4, height: high, fill: colour(fill) }));
			top += high;
		}
		cell.append(svg("rect", { class: "frame", x: x + 2, y: y + 2, width: w - 4, height: h - 4 }));
		chart.append(cell);
	}
}

function fact(name, value) {
	return value === undefined || value === "" ? [] : [html("dt", {}, name), html("dd", {}, value)];
}

function drawFacts(step) {
	const s = net.steps[step], t = tensorOf(s);
	const used = alive(step).reduce((sum, { b }) => sum + b.bytes, 0);
	byId("step-title").textContent = `Step ${step} of ${net.steps.length}: ${s.name}`;
	byId("facts").replaceChildren(
		...fact("does", s.kind + (s.beside ? ", beside the next step" : "")),
		...fact("op", s.op), ...fact("in the model", s.source),
		...fact("bound by", `${cause(bound(s))}: ${net.causes[bound(s)][1]}`),
		...fact("predicted", `${us(s.cycles)} us, from ${us(s.start)} us on`),
		...fact("by cause", causesText(s.by)),
		...fact("result", t ? `${t.channels} × ${t.height} × ${t.width} ${t.type} in ${t.place === "l1" ? "L1" : "DRAM"}, ` +
			`${t.bands} bands × ${t.splits} splits` : ""),
		...fact("L1", `${bytes(used)} of ${bytes(net.l1_room)} bytes (${percent(used, net.l1_room)})`),
		...fact("pressure", `${s.score} of 100, risk of thrashing ${s.risk}`),
		...fact("choice", s.config),
		...fact("else", s.other ? `${s.other}: ${s.other_cycles < 0 ? "" : "+"}${us(s.other_cycles)} us` : ""));
}

function drawBuffers(step) {
	const rows = alive(step).sort((a, b) => b.b.at - a.b.at).map(({ b, k }) =>
		html("tr", { "data-tip": `buffer ${k}` },
			html("td", {}, html("span", { class: "dot", style: `background:${kindColour(b.kind)}` }), b.name),
			html("td", {}, net.kinds[b.kind]), html("td", { class: "number" }, hex(b.at)),
			html("td", { class: "number" }, bytes(b.bytes)), html("td", { class: "number" }, `${b.born}–${b.dies}`)));
	const head = ["buffer", "kind", "address", "bytes", "steps"].map((name, i) =>
		html("th", { scope: "col", class: i > 1 ? "number" : "" }, name));
	byId("buffers").replaceChildren(html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
}

onSelect((step) => {
	drawFacts(step);
	drawCores(step);
	drawBuffers(step);
});
