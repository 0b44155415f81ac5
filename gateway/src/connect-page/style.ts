// The style of the hosted page, served as one file. A string, so that no build step has to copy it.
export const CONNECT_STYLE = `:root { color-scheme: light dark; --ink: #1c2024; --paper: #ffffff; --soft: #f1f3f5;
  --line: #6b7480; --accent: #0b57d0; --on-accent: #ffffff; --bad: #b3261e; --bad-soft: #fdecea; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e9ecef; --paper: #16191c; --soft: #22272b; --line: #99a2ab; --accent: #a8c7fa;
    --on-accent: #062e6f; --bad: #f2b8b5; --bad-soft: #3b1f1d; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 34rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; }
ol { padding-left: 1.4rem; }
li { margin: 0.4rem 0; }
button { font: inherit; font-weight: 600; min-height: 3rem; padding: 0.6rem 1.4rem; width: 100%;
  border: 2px solid var(--accent); border-radius: 0.6rem; background: var(--accent);
  color: var(--on-accent); cursor: pointer; margin: 0.25rem 0; }
button:disabled { opacity: 0.55; cursor: default; }
#reload, #close { background: transparent; color: var(--accent); }
[hidden] { display: none !important; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
.status { min-height: 1.6rem; padding: 0.75rem 1rem; background: var(--soft); border-radius: 0.6rem; }
.status.done { font-weight: 600; }
.problem { padding: 0.75rem 1rem; border-left: 4px solid var(--bad); background: var(--bad-soft); }
.warning { padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 0.6rem; font-size: 0.9rem; }
.small { font-size: 0.85rem; color: var(--line); }
.progress { height: 0.3rem; background: var(--soft); border-radius: 1rem; overflow: hidden; }
.progress span { display: block; height: 100%; width: 40%; background: var(--accent);
  border-radius: 1rem; animation: slide 1.4s ease-in-out infinite alternate; }
@keyframes slide { from { transform: translateX(0); } to { transform: translateX(150%); } }
@media (prefers-reduced-motion: reduce) { .progress span { animation: none; width: 100%; } }
@media (min-width: 30rem) { button { width: auto; } }
`;
