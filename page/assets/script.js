// What makes the page nicer; everything works without it.
"use strict";

const language = navigator.languages.find((l) => l.startsWith("en")) ?? "en-GB"; // as the page
const told = document.createElement("p"); // what a screen reader says
told.className = "unseen";
told.setAttribute("role", "status");
document.body.append(told);

// Times in the reader's zone, UTC beside; in lists how long ago, and UTC where one points.
const units = [
	["year", 31536e6], ["month", 2592e6], ["day", 864e5], ["hour", 36e5], ["minute", 6e4],
];
const ago = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
const local = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

function showTimes(root) {
	for (const time of root.querySelectorAll("time[datetime*=T]")) {
		const at = new Date(time.dateTime), utc = time.textContent;
		if (time.classList.contains("ago")) {
			const [unit, length] = units.find(([, l]) => Date.now() - at >= l) ?? ["minute", 6e4];
			time.textContent = ago.format(-Math.floor((Date.now() - at) / length), unit);
			time.title = `${local.format(at)} (${utc})`;
		} else if (at.getTimezoneOffset() !== 0) {
			const sameDay = at.getDate() === at.getUTCDate();
			time.textContent = `${local.format(at)} (${sameDay ? utc.slice(-9) : utc})`;
		}
	}
}

// Buttons that copy; they are hidden without a script.
async function copy(text) {
	if (navigator.clipboard) {
		return navigator.clipboard.writeText(text);
	}
	const box = document.createElement("textarea"); // plain http has no clipboard
	box.className = "unseen";
	box.value = text;
	document.body.append(box);
	box.select();
	const copied = document.execCommand("copy");
	box.remove();
	if (!copied) throw new Error("not allowed");
}

function showCopyButtons(root) {
	for (const button of root.querySelectorAll("button[data-copy]")) {
		const label = button.textContent;
		button.hidden = false;
		button.addEventListener("click", async () => {
			const done = await copy(button.dataset.copy).then(() => "Copied", () => "Not copied");
			button.focus();
			button.textContent = told.textContent = done;
			setTimeout(() => { button.textContent = label; told.textContent = ""; }, 2000);
		});
	}
}

// Search as one types, on the pages that show nothing but what was found.
const search = document.querySelector("form[data-live]");
let waiting, asked;

async function find() {
	const query = search.q.value.trim();
	const url = new URL(query ? `?q=${encodeURIComponent(query)}` : "./", search.action);
	asked?.abort();
	asked = new AbortController();
	try {
		const answer = await fetch(url, { headers: { Accept: "text/html" }, signal: asked.signal });
		const page = new DOMParser().parseFromString(await answer.text(), "text/html");
		document.querySelector("main").replaceWith(page.querySelector("main"));
		document.title = page.title;
		history.replaceState(null, "", url);
		showAll();
		told.textContent = document.querySelector("main .count")?.textContent ?? "";
	} catch (err) {
		if (err.name !== "AbortError") search.submit();
	}
}

search?.addEventListener("input", () => {
	clearTimeout(waiting);
	waiting = setTimeout(find, 150);
});
search?.addEventListener("submit", () => {
	clearTimeout(waiting);
	asked?.abort();
});

function showAll() {
	showTimes(document.querySelector("main"));
	showCopyButtons(document.querySelector("main"));
}
showAll();
