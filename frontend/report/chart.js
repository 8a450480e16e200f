// What all charts share: the data, elements, figures as people read them, the tip that
// follows the pointer, and which step is selected.
const net = JSON.parse(document.getElementById("data").textContent);

const state = { step: 0, width: 0, shown: [] };

const byId = (id) => document.getElementById(id);

function make(space, tag, attributes, ...inside) {
	const e = space ? document.createElementNS(space, tag) : document.createElement(tag);
	for (const name in attributes)
		e.setAttribute(name, attributes[name]);
	e.append(...inside);
	return e;
}

const html = (tag, attributes, ...inside) => make(null, tag, attributes, ...inside);
const svg = (tag, attributes, ...inside) =>
	make("http://www.w3.org/2000/svg", tag, attributes, ...inside);

const colour = (name) => `var(--${name})`;
const cause = (i) => net.causes[i][0];
// Half a tenth goes up, as in what the command prints.
const us = (cycles) => (Math.round((10 * cycles) / net.mhz) / 10).toFixed(1);
const bytes = (n) => n.toLocaleString("en-US");
const hex = (n) => "0x" + n.toString(16).padStart(6, "0");
const percent = (part, all) => (all ? (100 * part) / all : 0).toFixed(1) + "%";

// The cause that takes most of a step's time.
function bound(step) {
	let most = 0;
	step.by.forEach((v, i) => { if (v > step.by[most]) most = i; });
	return most;
}

const tensorOf = (step) =>
	step.out >= 0 ? net.tensors[step.out] : step.in.length ? net.tensors[step.in[0]] : null;

function causesText(by) {
	return by.map((v, i) => [v, cause(i)]).filter(([v]) => v * 20 >= net.mhz)
		.sort((a, b) => b[0] - a[0]).map(([v, name]) => `${name} ${us(v)}`).join(", ");
}

function stepText(i) {
	const s = net.steps[i];
	return `${i}. ${s.name} (${s.kind})\n${us(s.cycles)} us predicted: ${causesText(s.by)}`;
}

// ---- the tip ----

function showTip(x, y, text) {
	const tip = byId("tip");
	tip.textContent = text;
	tip.hidden = false;
	const box = tip.getBoundingClientRect();
	tip.style.left = Math.max(0, Math.min(x + 14, innerWidth - box.width - 4)) + "px";
	tip.style.top = Math.max(0, Math.min(y + 16, innerHeight - box.height - 4)) + "px";
}

const hideTip = () => { byId("tip").hidden = true; };

// Elements with a tip carry data-tip: a kind and a number. `tellers` makes the text.
const tellers = { step: stepText };

function watchTips() {
	addEventListener("pointermove", (e) => {
		const at = e.target.closest ? e.target.closest("[data-tip]") : null;
		if (!at)
			return hideTip();
		const [kind, index] = at.dataset.tip.split(" ");
		showTip(e.clientX, e.clientY, tellers[kind](Number(index)));
	});
	document.addEventListener("pointerleave", hideTip);
	addEventListener("scroll", hideTip, true);
}

// ---- selection ----

const listeners = [];
const onSelect = (f) => listeners.push(f);

function select(step) {
	state.step = Math.max(0, Math.min(net.steps.length - 1, step));
	listeners.forEach((f) => f(state.step));
}

// Elements with data-step select it; arrow keys go to the next.
function watchSelection(box) {
	box.addEventListener("click", (e) => {
		const at = e.target.closest("[data-step]");
		if (at)
			select(Number(at.dataset.step));
	});
	box.addEventListener("keydown", (e) => {
		const to = { ArrowLeft: state.step - 1, ArrowRight: state.step + 1, Home: 0,
			End: net.steps.length - 1 }[e.key];
		if (to === undefined)
			return;
		e.preventDefault();
		select(to);
	});
}

// ---- columns, one for each step ----

const left = 64; // where the labels of the axis stand
const right = 44; // where the last name ends

const columnX = (step) => left + step * state.width;

function sizeChart(chart, width, height) {
	chart.setAttribute("width", width);
	chart.setAttribute("height", height);
	chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
	chart.replaceChildren();
}

function columnsChart(id, height) {
	const chart = byId(id);
	sizeChart(chart, left + state.width * net.steps.length + right, height);
	return chart;
}

// Marks the selected step over the whole height.
function markColumn(chart, height) {
	const mark = svg("rect", { class: "column", y: 0, height, width: Math.max(2, state.width) });
	const move = () => mark.setAttribute("x", columnX(state.step));
	move();
	chart.append(mark);
	return move;
}

function legend(id, rows) {
	byId(id).replaceChildren(...rows.map(([name, what, fill]) =>
		html("li", { title: what }, html("i", { style: `background:${fill}` }), name)));
}
