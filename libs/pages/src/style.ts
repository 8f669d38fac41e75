/** The style of every page that a cardholder sees. System fonts, images inside the page: nothing is fetched. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #14213d; --muted: #5b6478; --line: #d5dae3; --accent: #1f4fd8;
  --accent-strong: #173fb0; --accent-ink: #fff; --error: #b3261e; --error-ground: #fdf0ef; --error-ink: #7d1a14;
  --notice: #eef3ff; --ground: #f3f5f9; --card: #fff; --field: #fff; --field-line: #838ca0; --placeholder: #626b82;
  --focus: #b96f00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e9edf6; --muted: #a9b3c8; --line: #323c52; --accent: #8fb1ff; --accent-strong: #b3caff;
    --accent-ink: #0b1533; --error: #ffb4ab; --error-ground: #3b1c1d; --error-ink: #ffdad6; --notice: #1c2a4d;
    --ground: #0f1420; --card: #181f2e; --field: #101724; --field-line: #7f8aa3; --placeholder: #9aa4ba;
    --focus: #f2a900; }
}
* { box-sizing: border-box; }
html { font-size: 100%; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; min-height: 100vh; background: var(--ground); color: var(--ink); overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { width: min(100% - 2rem, 28rem); margin: 0 auto; padding: 2rem 0 1.5rem; }
.panel { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 1.5rem;
  box-shadow: 0 1px 2px rgba(20,33,61,.05), 0 12px 32px rgba(20,33,61,.07); }
h1 { font-size: 1.25rem; line-height: 1.3; margin: 0 0 .25rem; letter-spacing: -.01em; hyphens: auto; }
h2 { font-size: 1rem; line-height: 1.4; margin: 0 0 .35rem; }
p { margin: 0 0 1rem; }
a { color: var(--accent); }
.muted { color: var(--muted); }
.summary { margin: 0 0 1.25rem; padding: 1rem 0 1.25rem; border-bottom: 1px solid var(--line); display: grid;
  grid-template-columns: auto 1fr; gap: .35rem 1rem; }
.summary dt { color: var(--muted); overflow-wrap: normal; }
.summary dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
.summary .total { font-weight: 650; font-size: 1.125rem; }
.label { display: flex; justify-content: space-between; gap: 1rem; }
.label output { color: var(--muted); font-size: .9375rem; }
label { display: block; font-weight: 600; font-size: .9375rem; margin: 0 0 .3rem; hyphens: auto; }
.hint { color: var(--muted); font-size: .875rem; margin: .3rem 0 0; }
.field { margin: 0 0 1.1rem; }
.row { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; }
.row .field { display: grid; grid-row: span 4; grid-template-rows: subgrid; }
.row label { align-self: end; }
input { width: 100%; min-height: 3rem; padding: .6rem .8rem; font: inherit; color: inherit; background: var(--field);
  border: 1px solid var(--field-line); border-radius: 9px; font-variant-numeric: tabular-nums; }
input.digits { letter-spacing: .06em; }
input::placeholder { color: var(--placeholder); opacity: 1; }
input[aria-invalid="true"] { border-color: var(--error); box-shadow: inset 0 0 0 1px var(--error); }
.error { color: var(--error); font-size: .875rem; margin: .3rem 0 0; }
.notice { border-radius: 9px; padding: .8rem 1rem; margin: 0 0 1.25rem; background: var(--notice); }
.notice.bad { background: var(--error-ground); color: var(--error-ink); }
.notice ul { margin: 0; padding: 0 0 0 1.1rem; }
.notice a { color: inherit; }
button, .button { display: block; width: 100%; min-height: 3rem; padding: .7rem 1rem; margin: 0 0 .75rem; font: inherit;
  font-weight: 650; text-align: center; text-decoration: none; cursor: pointer; color: var(--accent-ink);
  background: var(--accent); border: 1px solid var(--accent); border-radius: 9px; }
button:hover, .button:hover { background: var(--accent-strong); }
button.quiet { color: var(--ink); background: var(--card); border-color: var(--field-line); }
button.quiet:hover { background: var(--ground); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
.logo { display: block; max-width: 100%; max-height: 4rem; margin: 0 0 1rem; padding: .4rem; background: #fff;
  border-radius: 6px; }
.lock { display: flex; gap: .5rem; align-items: center; margin: 0 0 1rem; font-size: .875rem; color: var(--muted); }
.lock svg { flex: none; width: 1rem; height: 1rem; fill: currentColor; }
@media (max-width: 20rem) { .row { grid-template-columns: 1fr; } }
@media (max-width: 24rem) { main { width: 100%; padding: 0; } .panel { border: 0; border-radius: 0; box-shadow: none; } }
@media (forced-colors: active) { input, .panel, button, .button { border: 1px solid; } }
`.trim();
