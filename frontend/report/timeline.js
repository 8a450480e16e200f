// Units over time: each is busy for part of a step; what is drawn begins with it.
let markTime = () => {};

tellers.unit = (n) => {
	const count = net.units.length, s = net.steps[Math.floor(n / count)], u = n % count;
	return `${s.name}: ${net.units[u][0]}\n${us(s.busy[u])} of ${us(s.cycles)} us busy\n${net.units[u][1]}`;
};

function drawTimeline() {
	const row = 20, height = (net.units.length + 1) * row + 22, label = 104;
	const chart = byId("units");
	const wide = Math.max(byId("timeline").clientWidth - 4, state.width * net.steps.length * .6);
	const scale = (wide - label - 10) / (net.total[0] || 1);
	const x = (cycles) => label + cycles * scale;
	sizeChart(chart, wide, height);
	["step", ...net.units.map((u) => u[0])].forEach((name, k) =>
		chart.append(svg("text", { x: 2, y: k * row + 14 }, name)));
	net.steps.forEach((s, i) => {
		chart.append(svg("rect", { class: "span", x: x(s.start), y: 2, width: Math.max(.4, s.cycles * scale),
			height: row - 3, fill: colour(cause(bound(s))), "data-tip": `step ${i}`, "data-step": i }));
		s.busy.forEach((busy, u) => {
			if (busy)
				chart.append(svg("rect", { class: "span", x: x(s.start), y: (u + 1) * row + 2,
					width: Math.max(.4, busy * scale), height: row - 3, fill: colour("tensor-line"),
					"data-tip": `unit ${i * net.units.length + u}`, "data-step": i }));
		});
	});
	const step = 10 ** Math.floor(Math.log10(Math.max(1, net.total[0] / net.mhz)));
	const every = net.total[0] / net.mhz / step < 3 ? step / 4 : step;
	for (let t = 0; t * net.mhz <= net.total[0]; t += every)
		chart.append(svg("text", { class: "dim", x: x(t * net.mhz), y: height - 6 }, `${+t.toFixed(3)} us`));
	const mark = svg("rect", { class: "column", y: 0, height: height - 20 });
	chart.append(mark);
	markTime = () => {
		const s = net.steps[state.step];
		mark.setAttribute("x", x(s.start));
		mark.setAttribute("width", Math.max(2, s.cycles * scale));
	};
	markTime();
}

onSelect(() => markTime());
