// Puts the page together.
function drawHead() {
	const fps = (net.mhz * 1e6) / net.total[0];
	document.title = `${net.model} on ${net.target}: Tessera report`;
	byId("title").textContent = `${net.model} on ${net.target}`;
	byId("figures").replaceChildren(html("b", {}, `${us(net.total[0])} us`), " predicted, ",
		html("b", {}, `${fps.toFixed(1)}`), " runs/s; L1 ", html("b", {}, percent(net.peak, net.l1_room)),
		` at step ${net.peak_step}, ${net.steps[net.peak_step]?.name ?? ""}; ${net.steps.length} steps on ` +
		`${net.cores} cores; proof: ${net.proof}`);
	byId("causes").replaceChildren(...net.by_cause.map((v, i) => html("span",
		{ style: `flex:${v};background:${colour(cause(i))}`, "data-tip": `cause ${i}` })));
	byId("causes").setAttribute("aria-label", "Time by cause: " + causesText(net.by_cause));
	tellers.cause = (i) => `${cause(i)}: ${net.causes[i][1]}\n${us(net.by_cause[i])} us, ` +
		percent(net.by_cause[i], net.total[0]);
	legend("legend", net.causes.map((c, i) => [`${c[0]} ${us(net.by_cause[i])} us`, c[1], colour(c[0])])
		.filter((row, i) => net.by_cause[i]));
	legend("kinds", [["tensor", "", colour("tensor")], ["weights (circular buffer)", "", colour("weights")],
		["partial sums", "", colour("sums")], ["host rows (circular buffer)", "", colour("host")],
		["height shards", "", colour("height")], ["width shards", "", colour("width")],
		["block shards", "", colour("block")], ["one core", "", colour("one")], ["in DRAM", "", colour("in-dram")]]);
	legend("held", heldNames.map(([name, what, fill]) => [name, what, colour(fill)]));
	byId("summary").textContent = net.summary;
	document.querySelectorAll(".axis").forEach((e) => { e.textContent = l1AxisNote(); });
}

const widthIn = (box) => (box - left - right) / Math.max(1, net.steps.length);

function fitWidth() {
	return widthIn(byId("net").clientWidth - 4);
}

function setWidth(width) {
	state.width = Math.max(1, Math.min(120, width));
	drawColumns();
	drawTimeline();
}

function watchTools() {
	byId("fit").addEventListener("click", () => setWidth(fitWidth()));
	byId("wider").addEventListener("click", () => setWidth(state.width * 1.5));
	byId("narrower").addEventListener("click", () => setWidth(state.width / 1.5));
	byId("theme").addEventListener("click", () => {
		const root = document.documentElement;
		root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
	});
}

// A page of paper is as wide as it is: columns are as narrow as they must be.
function watchPaper() {
	const paper = 1040;
	let before = 0;
	addEventListener("beforeprint", () => {
		before = state.width;
		setWidth(Math.min(60, widthIn(paper)));
	});
	addEventListener("afterprint", () => setWidth(before));
}

function start() {
	document.documentElement.dataset.theme =
		matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
	drawHead();
	drawOps();
	drawOthers();
	setWidth(Math.max(9, Math.min(60, fitWidth())));
	["net", "timeline", "ops", "others"].forEach((id) => watchSelection(byId(id)));
	watchTips();
	watchTools();
	watchPaper();
	select(net.peak_step);
}

start();
