"use strict";

// Text from models and servers is only ever set as text, never as HTML.
const at = (id) => document.getElementById(id);

function element(name, text, className) {
	const e = document.createElement(name);
	e.textContent = text;
	if (className) e.className = className;
	return e;
}

async function ask(path, options) {
	const reply = await fetch(path, options);
	const body = await reply.json();
	if (!reply.ok) throw new Error(body.error);
	return body;
}

function say(...elements) { at("result").replaceChildren(...elements); }

function path() { return "/v2/models/" + at("model").value; }

async function listModels() {
	for (const m of await ask("/v2/repository/index", { method: "POST" })) {
		const option = element("option", m.name + ", version " + m.version);
		option.value = encodeURIComponent(m.name) + "/versions/" + m.version;
		at("model").append(option);
	}
	await showLayers();
}

async function showLayers() {
	const found = await ask(path() + "/layers");
	const warnings = found.warnings ? ", " + found.warnings + " warnings" : "";
	at("health").textContent = found.health + warnings + ", " + found.layers.length + " batch norms";
	at("norms").replaceChildren(...found.layers.map((l) => {
		const row = document.createElement("tr");
		row.append(element("td", l.name), element("td", l.channels), element("td", (l.findings || []).join("; ") || "none"));
		return row;
	}));
}

async function classify(file) {
	say(element("p", "Asking about " + (file.name || "the picture") + "."));
	try {
		const a = await ask(path() + "/classify", { method: "POST", body: file, headers: { "Content-Type": file.type || "application/octet-stream" } });
		const numbers = (a.values || []).map((v) => {
			const row = element("div", "", "row");
			row.append(element("span", v.label), element("span", v.value));
			return row;
		});
		const rows = (a.top || []).map((k) => {
			const row = element("div", "", "row"), percent = (100 * k.p).toFixed(1) + " %", bar = element("meter", percent);
			bar.value = k.p;
			bar.setAttribute("aria-label", k.label);
			row.append(element("span", k.label), bar, element("span", percent));
			return row;
		});
		say(...numbers, ...rows, element("p", (file.name || "the picture") + ": " + a.queue_ms.toFixed(2) + " ms in the queue, " + a.device_ms.toFixed(2) + " ms on the device"));
	} catch (error) {
		say(element("p", error.message, "error"));
	}
}

// A picture that was not chosen is not the one that the form names.
function take(file) {
	if (!file) return;
	at("file").value = "";
	classify(file);
}

at("model").addEventListener("change", () => showLayers().catch((e) => say(element("p", e.message, "error"))));
at("file").addEventListener("change", () => { if (at("file").files[0]) classify(at("file").files[0]); });
at("ask").addEventListener("submit", (e) => e.preventDefault());
document.addEventListener("paste", (e) => take(e.clipboardData.files[0]));
document.addEventListener("dragover", (e) => { e.preventDefault(); at("drop").classList.add("over"); });
document.addEventListener("dragleave", () => at("drop").classList.remove("over"));
document.addEventListener("drop", (e) => {
	e.preventDefault();
	at("drop").classList.remove("over");
	take(e.dataTransfer.files[0]);
});
listModels().catch((e) => say(element("p", e.message, "error")));
