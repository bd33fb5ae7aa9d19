/**
 * The report's style sheet: one column of text, quiet rules, figures with tabular numbers. Colours are variables, in a
 * light and a dark set; verdict colours are Okabe and Ito's blue and vermilion (lightened for dark), told apart by the
 * colour-blind, and never the only sign. No fonts are fetched.
 */
export const styleSheet = `
:root {
  color-scheme: light dark;
  --paper: #fdfcf9; --panel: #f5f3ed; --ink: #22211e; --soft: #66635b; --rule: #dcd8cd;
  --better: #0067a5; --worse: #c2500a; --inconclusive: #77736a; --failed: #22211e;
  --time-reference: #8fa9bd; --time-finished: #0067a5; --time-failed: #d98a52; --time-lost: #b9b4a7; --time-running: #e3dfd4;
  --serif: 'Iowan Old Style', 'Palatino Linotype', Palatino, 'Source Serif 4', Charter, Georgia, 'DejaVu Serif', serif;
  --sans: system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif;
  --mono: ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #191a1c; --panel: #212326; --ink: #e6e3dc; --soft: #a19d94; --rule: #3a3c40;
    --better: #62b5ee; --worse: #f0935a; --inconclusive: #98958d; --failed: #e6e3dc;
    --time-reference: #4d6b82; --time-finished: #4a9cd6; --time-failed: #c9763f; --time-lost: #67655f; --time-running: #3a3c40;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 var(--serif); overflow-wrap: break-word; }
main, header, footer { max-width: 69rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 3.5rem; }
footer { padding-bottom: 4rem; color: var(--soft); font-size: .85rem; }
h1 { font-size: 2.1rem; line-height: 1.2; font-weight: 600; margin: .2rem 0 .6rem; letter-spacing: -.01em; text-wrap: balance; }
h2 { font-size: 1.3rem; line-height: 1.3; font-weight: 600; margin: 0 0 .35rem; }
h3 { font-size: 1rem; font-weight: 600; margin: 1.6rem 0 .3rem; }
section { margin-top: 3rem; padding-top: 1.1rem; border-top: 1px solid var(--rule); }
p { margin: .5rem 0; max-width: 44rem; text-wrap: pretty; }
.overline { font: .78rem/1.4 var(--sans); color: var(--soft); letter-spacing: .02em; margin: 0; }
.deck { font-size: 1.08rem; color: var(--soft); }
.deck b { font-weight: 400; color: var(--ink); }
.note, figcaption { color: var(--soft); font-size: .9rem; line-height: 1.5; }
code, pre { font-family: var(--mono); font-size: .82em; }
pre { white-space: pre-wrap; background: var(--panel); padding: .8rem 1rem; margin: .5rem 0; border-radius: 3px; max-height: 30rem; overflow: auto; }
.number { font-variant-numeric: tabular-nums lining-nums; white-space: nowrap; }
.headline { display: grid; grid-template-columns: repeat(auto-fit, minmax(11.5rem, 1fr)); gap: 1.4rem 2rem; margin: 2rem 0 0; padding: 0; }
.headline div { border-top: 2px solid var(--ink); padding-top: .55rem; }
.headline dt { font: .82rem/1.35 var(--sans); color: var(--soft); }
.headline dd { margin: 0; }
.headline .figure { font-size: 1.65rem; line-height: 1.25; font-variant-numeric: tabular-nums lining-nums; letter-spacing: -.01em; }
.headline .note { font-size: .85rem; }
figure { margin: 1rem 0 0; }
figcaption { margin-top: .4rem; max-width: 44rem; }
.beside { display: grid; grid-template-columns: minmax(0, 500px) minmax(0, 1fr); gap: 1rem 2.5rem; align-items: start; }
svg.plot { display: block; max-width: 100%; height: auto; font: 12.5px var(--sans); font-variant-numeric: tabular-nums; color: var(--ink); --plot-background: var(--paper); }
svg.plot text { white-space: pre; }
.narrow { display: none; }
.key { display: flex; flex-wrap: wrap; gap: .15rem 1.2rem; list-style: none; margin: .4rem 0 0; padding: 0; font: .84rem/1.6 var(--sans); color: var(--soft); }
.key li { display: flex; align-items: center; gap: .45em; }
.key svg { flex: none; }
.swatch { width: .8em; height: .8em; border-radius: 2px; flex: none; display: inline-block; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; line-height: 1.45; margin-top: .8rem; }
th { font: .78rem/1.35 var(--sans); color: var(--soft); text-align: left; vertical-align: bottom; padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--ink); }
td { vertical-align: top; padding: .6rem .9rem .6rem 0; border-bottom: 1px solid var(--rule); }
th:last-child, td:last-child { padding-right: 0; }
th.number, td.number { text-align: right; }
tbody.version th { border-bottom: 1px solid var(--rule); padding-top: 1.2rem; font-size: .84rem; }
.records td:first-child { width: 38%; }
.sentence, .changes, .tags, td bdi, h1, dd, .facts code { overflow-wrap: anywhere; }
th { white-space: nowrap; }
.sentence { display: block; }
.clamp { display: -webkit-box; -webkit-line-clamp: 4; -webkit-box-orient: vertical; overflow: hidden; }
.changes, .tags { display: block; font: .78rem/1.5 var(--mono); color: var(--soft); margin-top: .25rem; }
.tags { font-family: var(--sans); }
.tags bdi + bdi::before { content: ' · '; }
.reason { display: block; color: var(--soft); font-size: .84rem; line-height: 1.4; }
.verdict { font: 600 .84rem/1.5 var(--sans); white-space: nowrap; }
.better { color: var(--better); } .worse { color: var(--worse); } .inconclusive { color: var(--inconclusive); } .failed { color: var(--failed); }
details { margin-top: .3rem; } 
summary { cursor: pointer; font: .8rem/1.6 var(--sans); color: var(--soft); }
.facts { display: grid; grid-template-columns: minmax(7rem, max-content) minmax(0, 1fr); gap: .35rem 1.6rem; margin: .8rem 0; }
.facts dt { font: .84rem/1.75 var(--sans); color: var(--soft); }
.facts dd { margin: 0; }
.lineage { margin: .6rem 0; padding-left: 1.3rem; }
.lineage li { margin: .5rem 0; }
.bar { display: flex; height: 1.5rem; margin: 1rem 0 .4rem; border-radius: 2px; overflow: hidden; gap: 1px; }
.bar span { min-width: 2px; }
.empty { color: var(--soft); font-style: italic; }
.compact { width: auto; }
.compact th, .compact td { padding-right: 2.4rem; }
@media (max-width: 64rem) { svg.plot[width='1056'] { font-size: 16px; } }
@media (max-width: 46rem) {
  body { font-size: 15.5px; }
  main, header, footer { padding-left: 1.1rem; padding-right: 1.1rem; }
  header { padding-top: 1.8rem; }
  h1 { font-size: 1.6rem; }
  section { margin-top: 2.2rem; }
  .headline { grid-template-columns: 1fr 1fr; gap: 1.1rem 1.2rem; }
  .headline .figure { font-size: 1.3rem; }
  .wide { display: none; }
  .narrow { display: block; }
  .beside { display: block; }
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin-bottom: .6rem; }
  .stacking thead { display: none; }
  .stacking, .stacking tbody, .stacking tr, .stacking td, .stacking th { display: block; width: auto !important; text-align: left !important; }
  .stacking tr { border-bottom: 1px solid var(--rule); padding: .8rem 0; }
  .stacking td { border: 0; padding: .1rem 0; }
  .stacking td[data-label] { display: grid; grid-template-columns: 7rem minmax(0, 1fr); }
  .stacking td[data-label]::before { content: attr(data-label); font: .78rem/1.9 var(--sans); color: var(--soft); }
  .number { white-space: normal; }
}
@media print {
  :root { color-scheme: light; --paper: #fff; --panel: #f5f3ed; --ink: #000; --soft: #555; --rule: #ccc;
    --better: #0067a5; --worse: #c2500a; --inconclusive: #77736a; --failed: #000; }
  body { font-size: 9.5pt; line-height: 1.45; }
  section { margin-top: 1.6rem; }
  .headline { grid-template-columns: repeat(5, 1fr); gap: 1rem; }
  .headline .figure { font-size: 1.25rem; }
  table { font-size: .82rem; }
  th, td { padding-right: .6rem; }
  td { padding-top: .35rem; padding-bottom: .35rem; }
  .strip { width: 110px; }
  details:not([open]) { display: none; }
  main, header, footer { max-width: none; padding: 0; }
  header { padding-top: 0; }
  figure, tr, .headline div { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  thead { display: table-header-group; }
  pre { max-height: none; }
  svg.plot[width='1056'] { font-size: 16px; }
}
`
