// Put behind the script of a page by cli_report.sh: uses the page as a person would and
// says in #result what was found, "ok" or what is wrong.
addEventListener("load", () => {
	const wrong = [];
	const check = (ok, what) => { if (!ok) wrong.push(what); };
	const began = performance.now();
	const at = (e) => {
		e.scrollIntoView({ block: "center", inline: "center" });
		const box = e.getBoundingClientRect();
		return [box.x + box.width / 2, box.y + box.height / 2];
	};
	// What lies on top there gets the event, as with a pointer.
	const send = (type, e, Kind = MouseEvent) => {
		const [clientX, clientY] = at(e);
		const top = document.elementFromPoint(clientX, clientY);
		top?.dispatchEvent(new Kind(type, { bubbles: true, clientX, clientY }));
		return top;
	};
	const key = (e, name) => e.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
	const column = (k) => [...document.querySelectorAll(`#ops tbody tr td:nth-child(${k})`)]
		.map((td) => td.textContent);
	const data = JSON.parse(byId("data").textContent);
	const steps = data.steps.length;

	check(document.querySelectorAll("#graph .node").length === steps, "a node for each step");
	check(document.querySelectorAll("#strip .cell").length === steps, "a cell of the strip for each step");
	check(document.querySelectorAll("#strip .move").length === data.steps.filter((s) => s.moves).length,
		"a mark for each move");
	check(document.querySelectorAll("#l1 .buffer").length === data.buffers.length, "a box for each buffer");
	check(document.querySelectorAll("#ops tbody tr").length === steps, "a row for each step");

	// L1: buffers that live at the same time lie apart, below the limit.
	for (const b of data.buffers)
		for (const c of data.buffers)
			if (b !== c && b.born <= c.dies && c.born <= b.dies && b.at < c.at + c.bytes && c.at < b.at + b.bytes)
				wrong.push(`${b.name} and ${c.name} overlap`);
	const peak = Math.max(...data.steps.map((s, i) => data.buffers
		.filter((b) => b.born <= i && i <= b.dies).reduce((sum, b) => sum + b.bytes, 0)));
	check(peak === data.peak, `the fullest step has ${peak} bytes, not ${data.peak}`);

	// Hover names the buffer.
	const largest = data.buffers.reduce((best, b, k) => (b.bytes > data.buffers[best].bytes ? k : best), 0);
	const box = document.querySelectorAll("#l1 .buffer")[largest];
	send("pointermove", box, PointerEvent);
	check(!byId("tip").hidden && byId("tip").textContent.startsWith(data.buffers[largest].name + ":"),
		"hover over a buffer names it");
	send("pointermove", byId("title"), PointerEvent);
	check(byId("tip").hidden, "the tip goes away");

	// A click on a column selects the step; so do keys.
	send("click", document.querySelector('#graph .node[data-step="1"]'));
	check(byId("step-title").textContent.includes(data.steps[1].name), "a click selects a step");
	key(byId("net"), "ArrowRight");
	check(byId("step-title").textContent.startsWith("Step 2 "), "an arrow key goes on");
	key(byId("net"), "Home");
	check(byId("step-title").textContent.startsWith("Step 0 "), "Home goes to the first");
	check(document.querySelector('#ops tr[aria-selected="true"]').textContent.includes(data.steps[0].name),
		"the row is marked");
	check(document.querySelectorAll("#cores g").length === data.cores, "a cell for each core");
	for (let core = 0; core < data.cores; core++) {
		const sum = Object.values(contents(0, core)).reduce((a, v) => a + v, 0);
		check(sum === data.l1_room, `core ${core} adds up to ${sum}`);
	}

	const halo = (k, which) => data.buffers.filter((b) => b.born <= k && k <= b.dies && b.kind === 0)
		.reduce((sum, b) => sum + b.held.reduce((all, run) => all + run[which] * run[2], 0), 0);
	for (const [which, name] of [[0, "shard"], [1, "halo"]]) {
		let sum = 0;
		for (let core = 0; core < data.cores; core++)
			sum += contents(1, core)[name];
		check(sum === halo(1, which) && sum > 0, `${name} of all cores is ${sum}`);
	}

	// Heads sort, there and back.
	const head = [...document.querySelectorAll("#ops th")].find((th) => th.textContent === "us");
	const place = [...head.parentNode.children].indexOf(head) + 1;
	send("click", head.firstChild);
	let times = column(place).map(Number);
	check(times.every((v, i) => !i || v <= times[i - 1]), "sorted by time, longest first");
	check(head.getAttribute("aria-sort") === "descending", "and said to be");
	send("click", head.firstChild);
	times = column(place).map(Number);
	check(times.every((v, i) => !i || v >= times[i - 1]), "sorted by time, shortest first");

	byId("filter").value = data.steps[2].name;
	byId("filter").dispatchEvent(new Event("input"));
	const left = [...document.querySelectorAll("#ops tbody tr")].filter((r) => !r.hidden);
	check(left.length && left.length < steps, "the filter leaves some");

	// Everything a pointer reaches, keys reach.
	for (const id of ["net", "timeline"])
		check(byId(id).tabIndex === 0, `${id} takes the focus`);
	const dark = getComputedStyle(document.documentElement).backgroundColor;
	byId("theme").click();
	check(getComputedStyle(document.documentElement).backgroundColor !== dark, "the theme changes");
	check(!document.querySelector("[src], link[href]"), "nothing is fetched");

	const took = Math.round(performance.now() - began);
	const load = Math.round(performance.timing.loadEventStart - performance.timing.navigationStart);
	document.body.append(html("p", { id: "result" },
		`${wrong.length ? wrong.join("; ") : "ok"}; loaded in ${load} ms, used in ${took} ms`));
});
