// Tables whose heads sort them: [name, value of a row, text of it, class].
function sortable(table, rows, columns, first, rowOf) {
	let by = first, down = false;
	const body = html("tbody");
	const heads = columns.map(([name, , , kind], k) => {
		const button = html("button", { type: "button" }, name);
		button.addEventListener("click", () => {
			down = by === k ? !down : kind === "number";
			by = k;
			draw();
		});
		return html("th", { scope: "col", class: kind || "" }, button);
	});
	const made = rows.map((r) => {
		const line = html("tr", {}, ...columns.map(([, , text, kind]) => {
			const shown = text(r);
			return html("td", { class: kind || "" }, ...(Array.isArray(shown) ? shown : [shown]));
		}));
		rowOf?.(r, line);
		return { r, line };
	});
	function draw() {
		const value = columns[by][1];
		made.sort((a, b) => {
			const x = value(a.r), y = value(b.r);
			return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
		});
		heads.forEach((h, k) => h.setAttribute("aria-sort",
			k !== by ? "none" : down ? "descending" : "ascending"));
		body.replaceChildren(...made.map(({ line }) => line));
	}
	table.replaceChildren(html("thead", {}, html("tr", {}, ...heads)), body);
	draw();
}

const rowsByStep = [];

function stepButton({ s, i }) {
	const button = html("button", { type: "button", "data-step": i }, s.name);
	return [html("span", { class: "dot", style: `background:${colour(cause(bound(s)))}` }), button];
}

const otherText = (s) => (s.other ? (s.other_cycles < 0 ? "" : "+") + us(s.other_cycles) : "");
const otherValue = (s) => (s.other ? s.other_cycles : Number.MAX_SAFE_INTEGER);

function drawOps() {
	const steps = net.steps.map((s, i) => ({ s, i }));
	const used = net.causes.map((c, k) => [c[0], k]).filter(([, k]) => net.by_cause[k]);
	const columns = [
		["#", (r) => r.i, (r) => r.i, "number"],
		["op", (r) => r.s.name, stepButton],
		["kind", (r) => r.s.kind, (r) => r.s.kind],
		["bound by", (r) => cause(bound(r.s)), (r) => cause(bound(r.s))],
		["us", (r) => r.s.cycles, (r) => us(r.s.cycles), "number"],
		["share", (r) => r.s.cycles, (r) => percent(r.s.cycles, net.total[0]), "number"],
		...used.map(([name, k]) => [name, (r) => r.s.by[k], (r) => (r.s.by[k] ? us(r.s.by[k]) : ""), "number"]),
		["pressure", (r) => r.s.score, (r) => `${r.s.score} ${r.s.risk}`, "number"],
		["runner-up", (r) => r.s.other || "", (r) => r.s.other || ""],
		["+ us", (r) => otherValue(r.s), (r) => otherText(r.s), "number"],
		["config", (r) => r.s.config || "", (r) => r.s.config || "", "long"],
	];
	const wide = { op: "minmax(11em, 2fr)", "runner-up": "minmax(12em, 1.5fr)", kind: "6.5em",
		"bound by": "6em", imbalance: "6.5em", pressure: "6em" };
	byId("ops").style.setProperty("--columns", columns.slice(0, -1)
		.map(([name]) => wide[name] || (name === "#" ? "2.5em" : "minmax(3.5em, 1fr)")).join(" "));
	sortable(byId("ops"), steps, columns, 0, ({ i }, line) => { rowsByStep[i] = line; });
	byId("filter").addEventListener("input", (e) => {
		const text = e.target.value.toLowerCase();
		rowsByStep.forEach((line, i) => {
			const s = net.steps[i];
			line.hidden = !`${s.name} ${s.kind} ${cause(bound(s))} ${s.config || ""}`.toLowerCase().includes(text);
		});
	});
}

function drawOthers() {
	const steps = net.steps.map((s, i) => ({ s, i })).filter(({ s }) => !s.moves);
	byId("other-note").textContent = `The cheapest other value of any field of each op (but fidelity), all other choices kept: ` +
		`${net.tried} plans with a neighbouring value were priced, and what is shown also fits L1. ` +
		`No search: "tessera explain --op NAME" looks for the best plan around a choice.`;
	sortable(byId("others"), steps, [
		["op", (r) => r.s.name, stepButton],
		["instead", (r) => r.s.other || "~", (r) => r.s.other || "nothing that was tried is legal and fits"],
		["us of the net", (r) => otherValue(r.s), (r) => otherText(r.s), "number"],
		["of the op, now", (r) => r.s.cycles, (r) => us(r.s.cycles), "number"],
	], 2);
}

let selectedRow = null;

onSelect((step) => {
	selectedRow?.setAttribute("aria-selected", "false");
	selectedRow = rowsByStep[step];
	selectedRow?.setAttribute("aria-selected", "true");
});
