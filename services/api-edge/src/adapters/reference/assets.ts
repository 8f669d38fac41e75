/** System fonts, no images: nothing is fetched. Long words break, so that nothing is wider than a phone. */
export const STYLE = `:root { color-scheme: light dark; --ink: #14213d; --muted: #5b6478; --line: #d5dae3; --ground: #fff; --code: #f3f5f9;
  --accent: #1f4fd8; --accent-ink: #fff; --focus: #b96f00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e9edf6; --muted: #a9b3c8; --line: #323c52; --ground: #0f1420; --code: #181f2e; --accent: #8fb1ff;
    --accent-ink: #0b1533; --focus: #f2a900; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
header, main { width: min(100% - 2rem, 56rem); margin: 0 auto; padding: 1rem 0; }
header { border-bottom: 1px solid var(--line); }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: 0; padding: 0; list-style: none; }
h1, h2, h3 { line-height: 1.3; }
a { color: var(--accent); }
code, pre, textarea { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .875rem; }
pre { margin: .5rem 0; padding: .75rem; border-radius: 6px; background: var(--code); white-space: pre-wrap; }
dt { margin-top: .75rem; }
dd { margin: 0; }
.muted { color: var(--muted); }
summary { padding: .25rem 0; cursor: pointer; }
textarea { display: block; width: 100%; min-height: 18rem; padding: .75rem; border: 1px solid var(--muted);
  border-radius: 6px; color: inherit; background: var(--code); }
button { margin: .5rem 0; padding: .5rem 1rem; border: 0; border-radius: 6px; font: inherit; cursor: pointer;
  color: var(--accent-ink); background: var(--accent); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
`;

/**
 * Sends what is in the text field to the API at this origin. An operation's id counts once, so that of the examples is
 * replaced by a new one.
 */
export const SCRIPT = `const form = document.querySelector('form');
const field = form.querySelector('textarea');
const output = form.querySelector('output');
function fill(text) {
  field.value = text.replaceAll(form.dataset.sampleId, 'try-' + Date.now());
}
fill(field.value);
form.hidden = false;
for (const button of document.querySelectorAll('button[data-request]')) {
  button.hidden = false;
  button.addEventListener('click', () => {
    fill(button.dataset.request);
    field.focus();
  });
}
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  output.textContent = 'Sending …';
  try {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(form.dataset.path, { method: 'POST', headers, body: field.value });
    const text = await response.text();
    let shown = text;
    try {
      shown = JSON.stringify(JSON.parse(text), null, 2);
    } catch {}
    output.textContent = 'HTTP ' + response.status + '\\n' + shown;
  } catch (error) {
    output.textContent = 'No answer: ' + error.message;
  }
});
`;
