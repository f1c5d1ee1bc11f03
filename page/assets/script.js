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

// Forms that are answered as one types: a part of the answer takes the place of this page's.
function live(form, delay, part, makeRequest, tell) {
	let waiting, asked;
	const stop = () => { clearTimeout(waiting); asked?.abort(); };
	const ask = async () => {
		const { signal } = asked = new AbortController(), { url, ...request } = makeRequest();
		try {
			const answer = await fetch(url, { headers: { Accept: "text/html" }, signal, ...request });
			const page = new DOMParser().parseFromString(await answer.text(), "text/html");
			document.querySelector(part).replaceWith(page.querySelector(part));
			told.textContent = tell(document.querySelector(part), url, page.title);
		} catch (err) {
			if (err.name !== "AbortError" && form === search) form.submit(); // others would save
		}
	};
	form?.addEventListener("submit", stop);
	form?.addEventListener("input", () => { stop(); waiting = setTimeout(ask, delay); });
}

const search = document.querySelector("form[data-live]"); // where nothing but the found is shown
live(search, 150, "main", () => {
	const query = search.q.value.trim();
	return { url: new URL(query ? `?q=${encodeURIComponent(query)}` : "./", search.action) };
}, (main, url, title) => {
	document.title = title;
	history.replaceState(null, "", url);
	showAll();
	return main.querySelector(".count")?.textContent ?? "";
});

const edited = document.querySelector("#facts")?.closest("form");
live(edited, 400, "#facts", () => ({
	url: edited.getAttribute("action"), method: "POST",
	body: new URLSearchParams([...new FormData(edited), ["action", "check"]]),
}), (facts) => facts.querySelector("dd").textContent);

function showAll() {
	showTimes(document.querySelector("main"));
	showCopyButtons(document.querySelector("main"));
}
showAll();
