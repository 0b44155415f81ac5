// The style sheet of the documents. A string, so that no build step has to copy a file.
export const DOCS_STYLE = `:root { color-scheme: light dark; --ink: #1c2024; --paper: #ffffff; --soft: #f1f3f5;
  --line: #c9d0d6; --dim: #5a636c; --accent: #0b57d0; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e9ecef; --paper: #16191c; --soft: #22272b; --line: #3d464e; --dim: #a5aeb6;
    --accent: #a8c7fa; --bad: #f2b8b5; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 0.5rem; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 0.5rem; padding-top: 0.5rem; border-top: 2px solid var(--line); }
h3 { font-size: 1.05rem; margin: 2rem 0 0.25rem; }
h4 { font-size: 0.9rem; margin: 1rem 0 0.25rem; color: var(--dim); }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.875em; }
pre { background: var(--soft); border-radius: 0.5rem; padding: 0.75rem; margin: 0.25rem 0;
  overflow-x: auto; overflow-wrap: normal; }
.verb { display: inline-block; min-width: 4.5em; font-weight: 700; color: var(--accent); }
.verb.delete { color: var(--bad); }
.dim { color: var(--dim); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.75rem 0.35rem 0;
  border-bottom: 1px solid var(--line); }
td:last-child, th:last-child { min-width: 12rem; }
nav ul { list-style: none; padding: 0; margin: 0.25rem 0 1rem; columns: 20rem; }
nav li { margin: 0.15rem 0; break-inside: avoid; }
.notice { padding: 0.75rem 1rem; border-left: 4px solid var(--accent); background: var(--soft); margin: 0.75rem 0; }
@media (max-width: 40rem) {
  thead { display: none; }
  tr { display: block; padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
  td, td:last-child { display: block; min-width: 0; padding: 0; border: 0; }
  td:empty { display: none; }
  td[data-head]:not([data-head=""])::before { content: attr(data-head) ": "; color: var(--dim); }
}
@media print { nav { display: none; } }
`;
