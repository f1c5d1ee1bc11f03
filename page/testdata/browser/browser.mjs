// Drives the links page in Chromium, and prints a line of JSON for each check.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";

const settings = JSON.parse(process.argv[2]);
const require = createRequire(join(settings.modules, "x"));
const { chromium } = require("playwright-core");
const jsQR = require("jsqr");
const { PNG } = require("pngjs");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const { port } = settings;
const host = (site) => (port === 80 ? `${site}.test` : `${site}.test:${port}`);
const at = (site, path) => `http://${host(site)}${path}`;
const start = at("go", "/.links/");
const credentials = { username: "ann", password: settings.password, origin: at("go", "") };

// Names of the plain http kind, as people type them: browsers send no Sec-Fetch-Site to those.
const browser = await chromium.launch({
	executablePath: settings.chromium,
	args: ["--no-sandbox", "--host-resolver-rules=MAP *.test 127.0.0.1"],
});

async function check(name, run) {
	if (!name.match(settings.only)) return;
	let error;
	try {
		await run();
	} catch (err) {
		error = err.stack;
	}
	console.log(JSON.stringify({ name, error }));
}

// Runs steps on a page of a browser of its own, in which nothing may go wrong unseen: no message of
// the console (breaches of the policy are some), no dialog, no request to another host.
async function onPage(steps, options = {}) {
	const context = await browser.newContext({
		httpCredentials: credentials, viewport: { width: 1280, height: 800 }, locale: "en-GB",
		timezoneId: "UTC", ...options,
	});
	context.setDefaultTimeout(15_000);
	const wrong = [];
	context.on("console", (message) => {
		const isNoFault = [
			/^Failed to load resource: .* status of 4\d\d/, // as the steps have asked for
			/^Autofocus processing was blocked because a document already has a focused element/,
		].some((text) => text.test(message.text()));
		if (!isNoFault) wrong.push(`console: ${message.text()}`);
	});
	context.on("weberror", (err) => wrong.push(`error: ${err.error()}`));
	context.on("dialog", (dialog) => {
		wrong.push(`dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
	context.on("request", (r) => {
		if (!/^(https?:\/\/\w+\.test[:/]|data:)/.test(r.url())) wrong.push(`request: ${r.url()}`);
	});
	try {
		await steps(await context.newPage(), context);
	} finally {
		await context.close();
	}
	assert.deepEqual(wrong, []);
}

// Asks as a program does, and follows no redirect.
function ask(site, path, { method = "GET", headers = {}, body } = {}) {
	return new Promise((resolve, reject) => {
		request({
			host: "127.0.0.1", port, path, method, auth: `ann:${settings.password}`,
			headers: { host: host(site), ...headers },
		}, (answer) => {
			const parts = [];
			answer.on("data", (part) => parts.push(part));
			answer.on("end", () => resolve({
				status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts),
			}));
		}).on("error", reject).end(body);
	});
}

async function leadsTo(path, destination) {
	const { status, headers } = await ask("go", path);
	assert.deepEqual([status, headers.location], [destination ? 302 : 404, destination]);
}

// Texts in SVG and on gradients axe cannot judge by itself; colors.
const tags = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"];

// Looks at a page in both schemes, and in all widths: 640 is 1280 at 200 % zoom.
async function inspect(page, name) {
	await takePictures(page, name);
	await page.evaluate(axe);
	for (const [colorScheme, width] of [["light", 1280], ["dark", 390]]) {
		await page.emulateMedia({ colorScheme });
		await page.setViewportSize({ width, height: 800 });
		const found = await page.evaluate((values) => window.axe.run({ runOnly: values }), tags);
		const told = [...found.violations, ...found.incomplete].map((rule) =>
			`${rule.id}: ${rule.nodes[0].html}: ${rule.nodes[0].failureSummary}`);
		assert.deepEqual(told, [], `${name}, ${colorScheme}, ${width}`);
	}
	for (const width of [1280, 640, 390, 320]) {
		await page.setViewportSize({ width, height: 800 });
		const wider = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
		assert.ok(wider <= 0, `${name} is ${wider} pixels too wide at ${width}`);
	}
	await page.emulateMedia({ colorScheme: "light" });
	await page.setViewportSize({ width: 1280, height: 800 });
}

async function takePictures(page, name) {
	for (const width of settings.pictures ? [1280, 390] : []) {
		for (const colorScheme of ["light", "dark"]) {
			await page.setViewportSize({ width, height: 800 });
			await page.emulateMedia({ colorScheme });
			const path = join(settings.pictures, `${name}-${colorScheme}-${width}.png`);
			await page.screenshot({ path, fullPage: true });
		}
	}
}

const heading = (page) => page.getByRole("heading", { level: 1 }).innerText();
const press = (page, name) => page.getByRole("button", { name, exact: true }).click();
const follow = (page, name) => page.getByRole("link", { name, exact: true }).click();
const label = (page, name) => page.getByLabel(name, { exact: true });
const searchHasFocus = (page) => page.locator("input[type=search]:focus").waitFor();
const main = (page) => page.locator("main").innerText();

// The index of a ruleset is made in the background once it is asked for.
async function isIndexed(site, path, text) {
	const end = performance.now() + 60_000;
	while (!(await ask(site, path)).body.includes(text) && performance.now() < end) {
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
}
const millionIndexed = isIndexed("million", "/links/?q=k09999", "k0999999");
await isIndexed("go", "/hanbook", "handbook");

// Pictures show links that were changed lately.
const changes = {
	roadmap: "/wiki/Product/Roadmap-2027", lunch: "https://cafeteria.example.com/menu",
	offsite: "/wiki/Offsite/2027", gh: "https://github.com/caddy-shortlink/",
};
for (const [key, to] of settings.pictures ? Object.entries(changes) : []) {
	const path = `/.links/key/${key}`;
	const { body } = await ask("go", path, { headers: { accept: "application/json" } });
	const { digest } = JSON.parse(body);
	await ask("go", path, {
		method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" },
		body: String(new URLSearchParams({ to, ...(digest && { digest }) })),
	});
}

// What people do, all of it with and without JavaScript.
for (const javaScriptEnabled of [true, false]) {
	const how = javaScriptEnabled ? "" : " without JavaScript";
	const suffix = javaScriptEnabled ? "" : "-plain";
	const inspected = async (page, name) => javaScriptEnabled && inspect(page, name);
	const doing = (name, steps) =>
		check(name + how, () => onPage(steps, { javaScriptEnabled }));

	await doing("find", async (page) => {
		await page.goto(at("go", "/"));
		assert.equal(page.url(), start, "the root leads to the page");
		await searchHasFocus(page);
		await inspected(page, "home");
		await page.keyboard.type("handb");
		await page.keyboard.press("Enter");
		await page.waitForURL("**/?q=handb");
		assert.equal(await page.locator(".links .key").first().innerText(), "handbook");
		assert.match(await main(page), /onboarding/, "found by its destination");
		await inspected(page, "search");
		await follow(page, "Uses in the last 30 days");
		await page.waitForURL("**/?q=handb&sort=uses");
		assert.match(await main(page), /^\d+ links\./m);
		await label(page, "Search links").fill("hnadbook");
		await press(page, "Search");
		await page.getByText("Perhaps you meant").waitFor();
		await inspected(page, "near");
		await label(page, "Search links").fill("to:https://docs.example.com/handbook/it/vpn#setup");
		await press(page, "Search");
		await page.getByText("lead to", { exact: false }).first().waitFor();
		assert.match(await main(page), /\bvpn\b/);
		await label(page, "Search links").fill("unused:90d");
		await press(page, "Search");
		await page.getByText("nobody has needed").first().waitFor();
		assert.match(await main(page), /payroll/);
	});

	await doing("make", async (page) => {
		await page.goto(start);
		await follow(page, "New link");
		await inspected(page, "new");
		await label(page, "Key").fill(`made${suffix}`);
		await label(page, "Leads to").fill("nowhere");
		await press(page, "Save");
		assert.match(await page.getByRole("alert").innerText(), /nowhere/, "told what is wrong");
		await inspected(page, "refused");
		await label(page, "Leads to").fill("https://made.example/a?b=c");
		await label(page, "Note").fill("as it was made");
		await press(page, "Save");
		await page.waitForURL(`**/key/made${suffix}?done=made`);
		assert.match(await main(page), /The link now exists[^]*as it was made/);
		await leadsTo(`/made${suffix}/x`, "https://made.example/a/x?b=c");
	});

	await doing("check and confirm", async (page) => {
		await page.goto(at("go", "/.links/new"));
		await page.getByText("Status, query, what matches").click();
		await inspected(page, "choices");
		await label(page, "Key").fill(`handbok${suffix}`);
		await label(page, "Leads to").fill("/gh/issues");
		await label(page, "Note").fill("as it was typed");
		if (!javaScriptEnabled) await press(page, "Check");
		await page.locator("#facts").getByText(`/handbok${suffix}, free`).waitFor();
		assert.match(await page.locator("#facts").innerText(), /Also lead there[^]*\/gh\/issues/);
		assert.equal(await label(page, "Note").inputValue(), "as it was typed");
		await label(page, "Key").fill(`handbok`);
		if (!javaScriptEnabled) await press(page, "Check");
		await page.locator("#facts").getByText("nearly taken").waitFor();
		await inspected(page, "checked");
		await press(page, "Save");
		assert.equal(await heading(page), "Is this what you mean?");
		await leadsTo("/handbok");
		await inspected(page, "confirm");
		await press(page, "Back to the form");
		assert.equal(await heading(page), "New link");
		assert.equal(await label(page, "Note").inputValue(), "as it was typed");
		await press(page, "Save");
		await label(page, "Key").fill(`confirmed${suffix}`);
		await press(page, "Save anyway");
		await page.waitForURL(`**/key/confirmed${suffix}?done=made`);
		assert.match(await main(page), /as it was typed/);
	});

	await doing("make with a random key", async (page) => {
		await page.goto(at("go", "/.links/new?to=https://made.example/"));
		await press(page, "Save");
		await page.waitForURL(/key\/[b-df-hj-np-tv-xz]{5}\?done=made$/);
	});

	await doing("edit with effects on others", async (page) => {
		await page.goto(at("go", "/.links/key/vpn"));
		await inspected(page, "key");
		await page.goto(at("go", "/.links/key/handbook"));
		await follow(page, "Edit");
		await inspected(page, "edit");
		const target = `https://new${suffix}.example.com/handbook`;
		await label(page, "Leads to").fill(target);
		await press(page, "Save");
		assert.equal(await heading(page), "This also changes 3 other links");
		assert.match(await main(page), /onboarding[^]*first-week[^]*new.*first-week/);
		await inspected(page, "effects");
		assert.notEqual((await ask("go", "/handbook")).headers.location, target, "nothing is saved yet");
		await press(page, "Save anyway");
		await page.waitForURL("**/key/handbook?done=saved");
		await leadsTo("/vpn", `${target}/it/vpn#setup`);
	});

	await doing("conflict", async (page, context) => {
		const other = await context.newPage();
		for (const p of [page, other]) await p.goto(at("go", "/.links/key/grafana?edit"));
		await label(other, "Leads to").fill(`https://theirs${suffix}.example`);
		await press(other, "Save");
		await other.waitForURL("**/key/grafana?done=saved");
		await label(page, "Leads to").fill(`https://mine${suffix}.example`);
		await press(page, "Save");
		assert.equal(await heading(page), "The link has changed meanwhile");
		assert.match(await main(page), new RegExp(`mine${suffix}.example[^]*theirs${suffix}.example`));
		await inspected(page, "conflict");
		await leadsTo("/grafana", `https://theirs${suffix}.example/`);
		await press(page, "Save mine over it");
		await page.waitForURL("**/key/grafana?done=saved");
		await leadsTo("/grafana", `https://mine${suffix}.example/`);
	});

	await doing("a new link overwrites none", async (page) => {
		await page.goto(at("go", "/.links/new?key=status"));
		await label(page, "Leads to").fill("https://mine.example");
		await press(page, "Save");
		assert.equal(await heading(page), "The key is taken");
		await inspected(page, "taken");
		assert.equal((await ask("go", "/status")).headers.location, "https://status.example.com/");
		await label(page, "Key").fill(`statues-of-berlin${suffix}`);
		await press(page, "Save with another key");
		await page.waitForURL(`**/key/statues-of-berlin${suffix}?done=made`);
		await leadsTo(`/statues-of-berlin${suffix}`, "https://mine.example/");
	});

	await doing("rename", async (page) => {
		const [old, fresh] = javaScriptEnabled ? ["wiki", "knowledge"] : ["knowledge", "lore"];
		await page.goto(at("go", `/.links/key/${old}`));
		await follow(page, "Rename");
		assert.match(await main(page), /Other links that lead to[^]*roadmap/);
		await inspected(page, "rename");
		await label(page, "New key").fill("status");
		await press(page, "Rename");
		assert.match(await page.getByRole("alert").innerText(), /key status already/);
		assert.equal(await label(page, "New key").inputValue(), "status", "what was typed is there");
		await inspected(page, "rename-refused");
		await label(page, "New key").fill(fresh);
		await page.getByRole("radio", { name: /^is gone/ }).check();
		await press(page, "Rename");
		assert.match(await main(page), /This also changes \d other links[^]*roadmap/);
		await inspected(page, "rename-effects");
		await page.getByRole("radio", { name: /^leads to/ }).check();
		await press(page, "Rename anyway");
		await page.waitForURL(`**/key/${fresh}?done=renamed`);
		await leadsTo("/wiki", "https://wiki.example.com/");
	});

	await doing("import a table", async (page) => {
		await page.goto(start);
		await follow(page, "Import");
		await inspected(page, "import");
		await label(page, "Table").fill(`imported${suffix},/gh/issues\nbad,nowhere`);
		await press(page, "Show what it would do");
		assert.match(await page.getByRole("alert").innerText(), /line 2: key "bad"/);
		await inspected(page, "import-refused");
		await label(page, "Or a file").setInputFiles({
			name: "links.csv", mimeType: "text/csv",
			buffer: Buffer.from(`key,destination\nimported${suffix},https://table.example\n`),
		});
		await press(page, "Show what it would do");
		assert.match(await main(page), /This adds 1 link and changes 0 links[^]*table\.example/);
		await inspected(page, "import-effects");
		await leadsTo(`/imported${suffix}`);
		await press(page, "Import");
		await page.waitForURL(start);
		await leadsTo(`/imported${suffix}`, "https://table.example/");
	});

	await doing("try a value of a template", async (page) => {
		await page.goto(at("go", "/.links/key/issue/%7Bn%7D"));
		assert.match(await main(page), /issues\/n/, "there is an example");
		await label(page, "n").fill("42");
		await press(page, "Try");
		await page.waitForURL("**/key/?key=*value.n=42");
		assert.match(await main(page), /n is 42[^]*issues\/42/);
		await inspected(page, "template");
	});

	await doing("a long destination unfolds", async (page) => {
		await page.goto(at("go", "/.links/key/survey"));
		const end = page.getByText("answer79=yes", { exact: false });
		assert.equal(await end.first().isVisible(), false, "it is folded");
		await page.getByText("The whole destination").click();
		assert.equal(await end.first().isVisible(), true, "it is unfolded");
		await page.getByText("80 parameters").click();
		assert.equal(await page.getByRole("cell", { name: /the destination of survey/ }).count(), 80);
		await inspected(page, "long");
	});

	await doing("a link that cannot be edited", async (page) => {
		await page.goto(at("million", "/links/key/k0000001"));
		assert.match(await main(page), /Where to change it[^]*million.csv:3:1/);
		assert.equal(await page.getByRole("link", { name: /Edit|Rename|Delete/ }).count(), 0);
		await inspected(page, "elsewhere");
	});

	await doing("delete", async (page) => {
		await page.goto(at("go", `/.links/key/made${suffix}`));
		await follow(page, "Delete");
		await inspected(page, "delete");
		await press(page, "Delete");
		await page.waitForURL("**/?removed=*");
		assert.match(await main(page), new RegExp(`made${suffix}`));
		await leadsTo(`/made${suffix}`);
	});

	await doing("take a change back, and have a link again", async (page) => {
		const made = `again${suffix}`;
		await page.goto(at("go", `/.links/new?key=${made}&to=https://again.example/&note=twice`));
		await press(page, "Save");
		await page.waitForURL(`**/key/${made}?done=made`);
		await follow(page, "Delete");
		await press(page, "Delete");
		await page.goto(at("go", `/${made}`));
		await follow(page, "Make this link");
		assert.match(await main(page), /This link was removed by ann on/);
		await inspected(page, "again");
		assert.equal(await label(page, "Note").inputValue(), "twice");
		await page.goto(at("go", `/.links/key/${made}`));
		await inspected(page, "removed");
		await follow(page, "Make it again");
		await press(page, "Save");
		await page.waitForURL(`**/key/${made}?done=made`);
		assert.match(await main(page), /Changes[^]*ann[^]*1 added[^]*ann[^]*1 removed/);
		await inspected(page, "key-changes");
		await follow(page, "Changes");
		assert.equal(await heading(page), "Changes");
		await inspected(page, "changes");
		await page.getByRole("link", { name: "Take back" }).first().click();
		assert.equal(await heading(page), "Take this change back?");
		await inspected(page, "change");
		await press(page, "Take it back");
		await page.waitForURL("**/changes?done=*");
		assert.match(await main(page), /Saved\./);
		await leadsTo(`/${made}`);
		await page.goto(at("go", "/.links/?q=&sort=changed"));
		await inspected(page, "sorted-by-change");
	});

	await doing("try", async (page) => {
		await page.goto(start);
		await follow(page, "Try a URL");
		await label(page, "URL or path").fill("/gh/issues/7?q=x&tab=1");
		await press(page, "Explain");
		await page.waitForURL("**/try?url=*");
		assert.match(await main(page), /gh\/issues[^]*caddy-shortlink\/shortlink\/issues\/7\?/);
		await inspected(page, "try");
		await label(page, "URL or path").fill("::");
		await press(page, "Explain");
		assert.match(await main(page), /::/);
	});

	await doing("export", async (page) => {
		await page.goto(start);
		const download = page.waitForEvent("download");
		await follow(page, "JSON");
		const rules = JSON.parse(readFileSync(await (await download).path(), "utf8"));
		assert.equal(rules["design/icons"], "https://design.example.com/file/p9Qx1/Icons");
	});

	await doing("set up a browser", async (page) => {
		await page.goto(start);
		await page.getByText("Set up your browser").click();
		assert.match(await main(page), new RegExp(`address bar[^]*${at("go", "/%s")}[^]*Drag`));
		await inspected(page, "setup");
		const bookmark = await page.getByRole("link", { name: "New link to this page" })
			.getAttribute("href");
		await page.goto(at("million", "/links/?q=k1#x"));
		const title = await page.title();
		if (!javaScriptEnabled) return;
		const script = decodeURIComponent(bookmark.slice("javascript:".length));
		await Promise.all([page.waitForURL("**/.links/new?**"), page.evaluate(script)]);
		assert.equal(await label(page, "Leads to").inputValue(), at("million", "/links/?q=k1#x"));
		assert.equal(await label(page, "Note").inputValue(), title);
	});

	await doing("the first link", async (page) => {
		await page.goto(at("empty", "/"));
		await inspected(page, "empty");
		await follow(page, "Make the first link");
		assert.equal(await heading(page), "New link");
	});

	await doing("what serves", async (page) => {
		await page.goto(start);
		await follow(page, "What serves");
		assert.match(await main(page), /Last load[^]*edits go here[^]*Digest/);
		await inspected(page, "serving");
	});

	await doing("a missing link", async (page) => {
		await page.goto(at("go", `/hanbook${suffix && "/"}`));
		assert.match(await main(page), /handbook/);
		await inspected(page, "miss");
		await press(page, "Search");
		await page.waitForURL("**/.links/?q=hanbook*");
		await page.goBack();
		await follow(page, "Make this link");
		assert.equal(await label(page, "Key").inputValue(), "hanbook");
		await page.goto(at("go", "/.links/key/hanbook"));
		await inspected(page, "missing");
		await page.goto(at("go", "/handbook+"));
		assert.equal(page.url(), at("go", "/.links/key/handbook"));
	});

	await doing("nobody is signed in", async (page) => {
		const answer = await page.goto(at("open", "/.links/"));
		assert.equal(answer.status(), 403);
		assert.equal(await heading(page), "You are not signed in");
		assert.equal((await page.goto(at("open", "/.links/export.json"))).status(), 403);
	});

	await doing("hostile texts", async (page) => {
		await page.goto(at("read", "/team/.links/?q="));
		const keys = await page.locator("main .links .key").all();
		assert.equal(keys.length, 4);
		const pages = await Promise.all(keys.map((key) => key.getAttribute("href")));
		await inspected(page, "hostile");
		for (const path of pages) {
			await page.goto(new URL(path, at("read", "/team/.links/")).href);
			assert.match(await heading(page), /script|onfocus|rtl|long/);
			await inspected(page, "hostile-key");
		}
	});

	await doing("a million links", async (page) => {
		await millionIndexed;
		await page.goto(at("million", "/links/"));
		const began = performance.now();
		await label(page, "Search links").fill("k09999");
		await press(page, "Search");
		await page.waitForURL("**/?q=k09999");
		await page.getByText("k0999999").waitFor();
		assert.ok(performance.now() - began < 2000, "it took too long");
		assert.equal(await page.locator(".links .key").count(), 100);
		await page.goto(at("million", "/links/?q=example.com/999999"));
		for (let steps = 1; !(await main(page)).includes("k0999999"); steps++) {
			assert.ok(steps < 20, "the search comes to no end");
			await follow(page, "Go on from there");
		}
		await page.goto(at("million", "/links/?q=&sort=uses"));
		assert.match(await main(page), /1,000,000 links/);
	});
}

await check("QR codes are read again", () => onPage(async (page) => {
	await page.goto(at("go", "/.links/key/gh/issues"));
	const picture = await page.getByRole("img", { name: /QR/ }).screenshot();
	const href = await page.getByRole("link", { name: /PNG/ }).getAttribute("href");
	const { pathname, search } = new URL(href, page.url());
	const { body } = await ask("go", pathname + search);
	for (const bytes of [picture, body]) {
		const { data, width, height } = PNG.sync.read(bytes);
		const code = jsQR(new Uint8ClampedArray(data), width, height);
		assert.equal(code?.data, at("go", "/gh/issues"));
	}
}, { colorScheme: "dark" }));

await check("copies, also where plain http has no clipboard", () => onPage(async (page) => {
	await page.goto(at("go", "/.links/key/gh"));
	await press(page, "Copy");
	await page.getByRole("button", { name: "Copied" }).waitFor();
	await label(page, "Search links").focus();
	await page.keyboard.press("Control+V");
	assert.equal(await label(page, "Search links").inputValue(), at("go", "/gh"));
}));

await check("finds as one types", () => onPage(async (page) => {
	await page.goto(start);
	await searchHasFocus(page);
	await page.keyboard.type("roadm");
	await page.waitForURL("**/?q=roadm");
	assert.equal(await page.locator(".links .key").first().innerText(), "roadmap");
	assert.equal(await page.evaluate("document.activeElement.id"), "q", "one can type on");
	await label(page, "Search links").fill("");
	await page.getByText("Set up your browser").waitFor();
}));

await check("times are the reader's, with UTC beside", () => onPage(async (page) => {
	await page.goto(at("go", "/.links/serving"));
	const time = page.locator("main time:not(.ago)[datetime*=T]").first();
	const hour = new Date(await time.getAttribute("datetime")).toLocaleTimeString("en-GB",
		{ timeZone: "Asia/Tokyo", hour: "2-digit", minute: "2-digit" });
	assert.match(await time.innerText(), new RegExp(`${hour} \\(.*UTC\\)`));
}, { timezoneId: "Asia/Tokyo" }));

await check("the keyboard alone reaches all, and sees where it is", () => onPage(async (page) => {
	const paths = ["/.links/", "/.links/key/gh", "/.links/new", "/.links/serving", "/hanbook",
		"/.links/changes"];
	for (const path of paths) {
		await page.goto(at("go", path));
		const all = await page.evaluate(() => {
			document.activeElement.blur();
			return [...document.querySelectorAll("a, button, input, select, summary, textarea")]
				.filter((e) => e.type !== "hidden" && e.checkVisibility()).length;
		});
		const seen = new Set();
		for (let i = 0; i <= all; i++) {
			await page.keyboard.press("Tab");
			const [place, outline] = await page.evaluate(() => {
				const e = document.activeElement, style = getComputedStyle(e);
				const box = e.getBoundingClientRect();
				return [`${e.tagName} ${box.x},${box.y + scrollY}`,
					e.matches(":focus-visible") && parseFloat(style.outlineWidth)];
			});
			if (place.startsWith("BODY")) continue; // between the last and the first
			assert.ok(outline >= 2, `${path}: ${place} has no visible focus`);
			seen.add(place);
		}
		assert.equal(seen.size, all, path);
	}
}));

await check("forced colors and reduced motion", () => onPage(async (page) => {
	await page.goto(start);
	assert.equal(await page.evaluate("document.getAnimations().length"), 0);
	assert.equal(await page.evaluate("matchMedia('(forced-colors: active)').matches"), true);
	for (const name of ["Search", "New link"]) {
		const control = page.getByText(name, { exact: true }).last();
		const border = await control.evaluate((e) => getComputedStyle(e).borderTopWidth);
		assert.notEqual(border, "0px", `${name} has an edge`);
	}
}, { forcedColors: "active", reducedMotion: "reduce" }));

// Chromium checks form-action for redirects, too.
await check("a search leads to a sign-in at another origin", () => onPage(async (page) => {
	await page.goto(at("portal", "/nothing"));
	const seen = page.waitForRequest("https://signin.test/");
	await press(page, "Search");
	await seen;
}));

await check("the address bar can search", () => onPage(async (page) => {
	await page.goto(start);
	const link = page.locator("link[rel=search]");
	const path = new URL(await link.getAttribute("href"), start).pathname;
	const { body } = await ask("go", path);
	assert.match(body.toString(), /template="http:\/\/go\.test(:\d+)?\/\.links\/\?q=\{searchTerms\}"/);
}));

await browser.close();
