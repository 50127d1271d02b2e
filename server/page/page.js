"use strict";

// Text from models and servers is only ever set as text, never as HTML. Charts are the exception: they
// are the server's own drawings.
const at = (id) => document.getElementById(id);
const mostCards = 24, every = 2000; // answers that stay; milliseconds between looks at the last minutes
let about = null; // the server's description of the chosen model
let last = null; // the last picture, to ask others about

function element(name, text, className) {
	const e = document.createElement(name);
	e.textContent = text;
	if (className) e.className = className;
	return e;
}

function within(parent, ...children) {
	parent.append(...children);
	return parent;
}

async function ask(path, options) {
	const reply = await fetch(path, options);
	const body = await reply.json();
	if (!reply.ok) throw new Error(body.error);
	return body;
}

const percent = (share) => (100 * share).toFixed(1) + " %";
const ms = (v) => v.toFixed(2) + " ms";
const path = (model) => "/v2/models/" + (model || at("model").value);
const options = () => [...at("model").options];

async function listModels() {
	const models = await ask("/v2/repository/index", { method: "POST" });
	for (const m of models) {
		const option = element("option", m.name + ", version " + m.version);
		option.value = encodeURIComponent(m.name).replace(/'/g, "%27") + "/versions/" + m.version;
		at("model").append(option);
	}
	const meta = await ask("/v2");
	at("served").textContent = "bnctl " + meta.version + " at " + location.host + " · " + models.length + (models.length === 1 ? " version" : " versions of models") + " served";
	at("all").hidden = models.length < 2;
	await show();
}

// show shows the model that is chosen.
async function show() {
	await Promise.all([showMinutes(), showLayers()]);
	at("none").hidden = about.pictures && about.answers !== "outputs";
	at("drop").hidden = !at("none").hidden && !at("every").checked;
	at("none").textContent = about.pictures ? "This model has no classes; ask for its outputs as below." : "This model takes no picture files; ask with numbers as below.";
	await showRequests();
}

async function showLayers() {
	const found = await ask(path() + "/layers");
	const warnings = found.warnings ? ", " + found.warnings + (found.warnings === 1 ? " warning" : " warnings") : "";
	at("health").textContent = found.health + warnings + ", " + found.layers.length + " batch norms";
	const number = (v) => v === undefined ? "-" : String(Number(v.toPrecision(3)));
	at("norms").replaceChildren(...found.layers.map((l) => {
		const text = (l.findings || []).join("; ");
		return within(element("tr", "", text ? "mark" : ""), ...[l.name, l.channels, number(l.dead), number(l.var_min), number(l.var_median), number(l.var_max)].map((v) => element("td", v)), element("td", text || "none", "text"));
	}));
}

// showMinutes shows latency and queue over the last minutes.
async function showMinutes() {
	const of = at("model").value, a = await ask(path(of) + "/activity");
	if (of !== at("model").value) return; // another was chosen meanwhile
	about = a;
	const facts = [["requests", a.requests, "in " + a.minutes + " minutes"], ["not answered", a.failed, ""], ["rows", a.rows, "computed"], ["in the queue", ms(a.queue_ms), "mean"], ["on the device", ms(a.device_ms), "mean"], ["slowest", ms(a.slowest_ms), "queue and device"], ["rows that wait", a.waiting, "now; at most " + a.max_queue], ["file", a.sha256.slice(0, 8), "sha256"]];
	at("facts").replaceChildren(...facts.map(([name, value, small]) => within(document.createElement("div"), element("dt", name), within(element("dd", value), element("small", small)))));
	at("charts").replaceChildren(...a.charts.map((c) => {
		const drawn = new DOMParser().parseFromString(c.svg, "text/html").querySelector("svg");
		return within(element("figure", "", "card"), element("h3", c.title), document.importNode(drawn, true));
	}));
}

// row is one of a table: a name, a bar and a figure.
function row(name, share, figure, colour) {
	const first = element("td", "");
	if (colour) {
		const swatch = element("span", "", "swatch");
		swatch.style.backgroundColor = colour;
		first.append(swatch);
	}
	first.append(name);
	const tr = within(document.createElement("tr"), first);
	if (share !== null) {
		const inner = document.createElement("i"), bar = within(element("span", "", "bar"), inner);
		inner.style.width = 100 * share + "%";
		tr.append(within(element("td", "", "bars"), bar));
	}
	return within(tr, element("td", figure));
}

function table(rows, heads) {
	const head = within(document.createElement("tr"), ...heads.map((h) => within(element("th", h))));
	head.querySelectorAll("th").forEach((h) => { h.scope = "col"; });
	return within(document.createElement("table"), within(document.createElement("thead"), head), within(document.createElement("tbody"), ...rows));
}

// draw returns a canvas with a picture, and a mask or boxes over it; nothing if the browser cannot show it.
async function draw(file, name, mask, boxes) {
	try {
		const picture = await createImageBitmap(file), canvas = element("canvas", "", "seen"), c = canvas.getContext("2d");
		const scale = Math.min(1, 512 / Math.max(picture.width, picture.height));
		canvas.width = Math.max(1, Math.round(scale * picture.width));
		canvas.height = Math.max(1, Math.round(scale * picture.height));
		c.drawImage(picture, 0, 0, canvas.width, canvas.height);
		canvas.setAttribute("role", "img");
		canvas.setAttribute("aria-label", name);
		if (mask) {
			c.globalAlpha = 0.5;
			c.imageSmoothingEnabled = false;
			c.drawImage(await visible(mask), 0, 0, canvas.width, canvas.height);
		}
		(boxes || []).forEach((b) => outline(c, b, canvas.width / picture.width, canvas.height / picture.height));
		return [canvas];
	} catch {
		return []; // a format that the server reads and the browser does not
	}
}

// colourOf returns the colour of a class.
const colourOf = (index) => "hsl(" + (index * 137.5) % 360 + " 85% 45%)";

// outline draws a box with its class and score.
function outline(c, b, byX, byY) {
	const [x1, y1, x2, y2] = b.box, x = x1 * byX, y = y1 * byY, text = b.label + " " + percent(b.score);
	c.strokeStyle = c.fillStyle = colourOf(b.index);
	c.lineWidth = 2;
	c.strokeRect(x, y, (x2 - x1) * byX, (y2 - y1) * byY);
	c.font = "12px sans-serif";
	const top = Math.max(0, y - 15);
	c.fillRect(x, top, c.measureText(text).width + 6, 15);
	c.fillStyle = "white";
	c.fillText(text, x + 3, top + 12);
}

// visible returns a mask whose class 0 is not drawn.
async function visible(file) {
	const mask = await createImageBitmap(file), canvas = new OffscreenCanvas(mask.width, mask.height), c = canvas.getContext("2d");
	c.drawImage(mask, 0, 0);
	const pixels = c.getImageData(0, 0, mask.width, mask.height), p = pixels.data;
	for (let i = 0; i < p.length; i += 4) if (p[i] + p[i + 1] + p[i + 2] === 0) p[i + 3] = 0;
	c.putImageData(pixels, 0, 0);
	return canvas;
}

const png = (base64) => new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], { type: "image/png" });

// answer asks a model about a picture, and fills a card with what it says.
async function answer(card, file, model, name) {
	const title = element("h3", name + ": " + model.text), took = (a) => element("p", name + ": " + ms(a.queue_ms) + " in the queue, " + ms(a.device_ms) + " on the device", "note");
	try {
		const kind = (await ask(path(model.value) + "/activity")).answers;
		const post = (what) => ask(path(model.value) + what, { method: "POST", body: file, headers: { "Content-Type": file.type || "application/octet-stream" } });
		if (kind === "masks") {
			const a = await post("/segment");
			const rows = a.classes.map((k) => row(k.label, k.share, percent(k.share), k.colour));
			card.replaceChildren(title, ...await draw(png(a.picture), name + " with its mask", png(a.mask)), table(rows, ["class", "share of the pixels", "%"]), took(a));
			return;
		}
		if (kind === "boxes") {
			const a = await post("/detect");
			const rows = a.boxes.map((b) => row(b.label, b.score, percent(b.score), colourOf(b.index)));
			const found = rows.length ? table(rows, ["class", "score", "%"]) : element("p", "No boxes.", "note");
			card.replaceChildren(title, ...await draw(file, name + " with its boxes", null, a.boxes), found, took(a));
			return;
		}
		const a = await post("/classify");
		const numbers = (a.values || []).map((v) => row(v.label, null, v.value));
		const rows = (a.top || []).map((k) => row(k.label, k.p, percent(k.p)));
		card.replaceChildren(title, ...await draw(file, name), rows.length ? table(rows, [kind === "labels" ? "label" : "class", "probability", "%"]) : table(numbers, ["number", "value"]), took(a));
	} catch (error) {
		card.replaceChildren(title, element("p", error.message, "bad error"));
	}
}

// classify asks about pictures: one card for each, and for each model if all are asked.
async function classify(files) {
	const models = at("every").checked ? options() : options().filter((o) => o.selected);
	last = files;
	for (const file of files) {
		const name = file.name || "the picture";
		const cards = models.map(() => within(element("div", "", "card"), element("p", "Asking about " + name + ".", "note")));
		at("result").querySelector(".note:only-child")?.remove();
		at("result").prepend(...cards);
		while (at("result").children.length > mostCards) at("result").lastElementChild.remove();
		await Promise.all(cards.map((card, i) => answer(card, file, models[i], name)));
	}
	await showMinutes();
}

// Pictures that were not chosen are not the ones that the form names.
function take(files) {
	if (!files.length) return;
	at("file").value = "";
	classify([...files]).catch(failed);
}

// zeros shows an example request for numbers: a row of zeros. For several inputs a JSON header that names them comes first.
async function zeros() {
	const meta = await ask(path()), size = { BOOL: 1, UINT8: 1, INT8: 1, UINT16: 2, INT16: 2, UINT64: 8, INT64: 8, FP64: 8 };
	const count = (input) => input.shape.slice(1).reduce((a, b) => a * b, 1) * (size[input.datatype] || 4);
	const bytes = meta.inputs.reduce((sum, input) => sum + count(input), 0);
	const rows = meta.inputs.map((input) => input.name + ", " + input.datatype + " of the shape " + (input.shape.slice(1).join(" x ") || "1"));
	if (meta.inputs.length === 1) return { bytes, header: "", length: 0, rows: rows[0].slice(meta.inputs[0].name.length + 2) };
	const header = JSON.stringify({ inputs: meta.inputs.map((input) => ({ name: input.name, shape: [1, ...input.shape.slice(1)], datatype: input.datatype, parameters: { binary_data_size: count(input) } })) });
	return { bytes, header, length: new TextEncoder().encode(header).length, rows: rows.join("; ") };
}

async function showRequests() {
	const url = location.origin + path(), text = {};
	const pictures = about.pictures && about.answers !== "outputs", call = url + (!pictures ? "/infer" : { masks: "/segment", boxes: "/detect" }[about.answers] || "/classify");
	const quoted = JSON.stringify(call), token = about.token, z = pictures ? null : await zeros();
	at("what").textContent = pictures ? "Each sends the file picture.jpg (or PNG, WebP, GIF, BMP, TIFF), and prints the answer as JSON." : "Each sends one row of zeros, " + z.rows + ", as bytes, and " + (z.header ? "prints the answer as JSON." : "writes the outputs as bytes.");
	const length = z ? "Inference-Header-Content-Length" : "";
	const nothing = z && "head -c " + z.bytes + " /dev/zero", printed = !z || z.header;
	text.curl = (!z ? "" : (z.header ? "{ printf %s '" + z.header.replaceAll("'", "'\\''") + "'; " + nothing + "; }" : nothing) + " |\n  ") + "curl" + (token ? " -H \"Authorization: Bearer $TOKEN\"" : "") + (z ? " -H '" + length + ": " + z.length + "'" : "") + " --data-binary " + (z ? "@-" : "@picture.jpg") + (printed ? "" : " -o outputs") + " \\\n  '" + call + "'";
	const headers = (token ? "\nrequest.add_header(\"Authorization\", \"Bearer \" + os.environ[\"TOKEN\"])" : "") + (z ? "\nrequest.add_header(\"" + length + "\", \"" + z.length + "\")" : "");
	text.Python = "import json, os, urllib.request\n\nbody = " + (z ? (z.header ? JSON.stringify(z.header) + ".encode() + " : "") + "bytes(" + z.bytes + ")" : "open(\"picture.jpg\", \"rb\").read()") + "\nrequest = urllib.request.Request(" + quoted + ", body)\nrequest.add_header(\"Content-Type\", \"application/octet-stream\")" + headers + "\nwith urllib.request.urlopen(request) as answer:\n    " + (printed ? "print(json.dumps(json.load(answer), indent=1))" : "open(\"outputs\", \"wb\").write(answer.read())");
	const set = (token ? "\trequest.Header.Set(\"Authorization\", \"Bearer \"+os.Getenv(\"TOKEN\"))\n" : "") + (z ? "\trequest.Header.Set(\"" + length + "\", \"" + z.length + "\")\n" : "");
	text.Go = "package main\n\nimport (\n\t\"bytes\"\n\t\"io\"\n\t\"log\"\n\t\"net/http\"\n\t\"os\"\n)\n\nfunc main() {\n" + (z ? "\tbody := " + (z.header ? "append([]byte(" + JSON.stringify(z.header) + "), make([]byte, " + z.bytes + ")...)" : "make([]byte, " + z.bytes + ")") + "\n\trequest, err" : "\tbody, err := os.ReadFile(\"picture.jpg\")\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\trequest, err") + " := http.NewRequest(\"POST\", " + quoted + ", bytes.NewReader(body))\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n" + set + "\tanswer, err := http.DefaultClient.Do(request)\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tdefer answer.Body.Close()\n\tif _, err := io.Copy(os.Stdout, answer.Body); err != nil {\n\t\tlog.Fatal(err)\n\t}\n}";
	at("copies").replaceChildren(...Object.entries(text).map(([name, code]) => {
		const button = element("button", "Copy"), pre = element("pre", code);
		button.type = "button";
		button.setAttribute("aria-label", "Copy the request for " + name);
		button.addEventListener("click", () => copy(code, button));
		return within(document.createElement("div"), within(element("div", "", "copy"), element("h3", name), button), pre);
	}));
}

// copy puts a text into the clipboard, which browsers permit at HTTPS and this machine's addresses.
async function copy(text, button) {
	try {
		await navigator.clipboard.writeText(text);
		button.textContent = "Copied";
	} catch {
		button.textContent = "Select and copy it";
	}
}

function failed(error) { at("result").prepend(element("p", error.message, "bad error")); }

at("model").addEventListener("change", () => show().catch(failed));
at("every").addEventListener("change", () => { show().catch(failed); if (last && at("every").checked) classify(last).catch(failed); });
at("file").addEventListener("change", () => { if (at("file").files.length) classify([...at("file").files]).catch(failed); });
at("ask").addEventListener("submit", (e) => e.preventDefault());
document.addEventListener("paste", (e) => take(e.clipboardData.files));
document.addEventListener("dragover", (e) => { e.preventDefault(); at("drop").classList.add("over"); });
document.addEventListener("dragleave", () => at("drop").classList.remove("over"));
document.addEventListener("drop", (e) => {
	e.preventDefault();
	at("drop").classList.remove("over");
	take(e.dataTransfer.files);
});
listModels().then(() => setInterval(() => { if (!document.hidden) showMinutes().catch(() => {}); }, every)).catch(failed);
