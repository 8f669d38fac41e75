/** Colours are told apart by people who see no red or green, and stand out against both backgrounds. */
export const STYLE = `
:root { color-scheme: light dark; --page: #f4f5f7; --card: #fff; --ink: #1a1f26; --muted: #5b6470; --line: #e2e5e9;
  --approved: #2563c9; --declined: #c47a06; --failed: #b3392f; --open: #8b95a1; --good: #1a7042; --bad: #9a5b00;
  --good-back: #e5f4ea; --bad-back: #fdf1dc }
@media (prefers-color-scheme: dark) { :root { --page: #12151a; --card: #1b2027; --ink: #e7eaee; --muted: #9aa4b0;
  --line: #2c333c; --approved: #6ea2ff; --declined: #e8a94a; --failed: #ee7f74; --open: #78828e; --good: #7fd6a0;
  --bad: #f0bd6a; --good-back: #173324; --bad-back: #3a2c12 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main > *, .pair > * { min-width: 0 }
main { max-width: 1160px; margin: 0 auto; padding: 32px 20px 48px; display: grid; gap: 20px }
header { display: grid; gap: 10px }
h1 { font-size: 26px; line-height: 1.2; margin: 0 }
h2 { font-size: 16px; margin: 0 0 2px }
p { margin: 0 }
.sub { color: var(--muted); font-size: 13px }
.status { display: inline-block; justify-self: start; padding: 6px 12px; border-radius: 8px; font-weight: 600 }
.status.good { color: var(--good); background: var(--good-back) }
.status.bad { color: var(--bad); background: var(--bad-back) }
.findings { margin: 0; padding-left: 20px; color: var(--bad); font-size: 13px; overflow-wrap: anywhere }
.tiles { display: grid; gap: 12px; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)) }
.tile, section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 16px 18px }
.tile strong { display: block; font-size: 24px; line-height: 1.3; font-variant-numeric: tabular-nums }
.pair { display: grid; gap: 20px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 500px), 1fr)) }
.scroll { overflow-x: auto }
svg { display: block; width: 100%; height: auto; margin: 12px 0 4px; font: 12px system-ui, sans-serif }
svg .grid { stroke: var(--line) }
svg .tick { fill: var(--muted) }
svg .label, svg .note { fill: var(--ink); font-size: 13px }
svg .note { fill: var(--muted) }
svg .hit { fill: transparent }
svg g:hover .hit { fill: var(--line); fill-opacity: .45 }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 8px 0 0; padding: 0; list-style: none; font-size: 13px }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px }
details { margin-top: 10px; font-size: 13px }
summary { cursor: pointer; color: var(--muted) }
table { border-collapse: collapse; width: 100%; margin-top: 10px; font-variant-numeric: tabular-nums; font-size: 14px }
th { text-align: left; font-weight: 600; color: var(--muted); font-size: 12px }
th, td { padding: 6px 14px 6px 0; border-bottom: 1px solid var(--line); white-space: nowrap }
td:not(:first-child), th:not(:first-child) { text-align: right }
tr:last-child td { border-bottom: 0 }
.none { color: var(--muted); margin-top: 12px }
footer { color: var(--muted); font-size: 13px }
`;
