// make bench: measures the mesh and its yardstick in the same run, and writes RESULTS.md.
// `node main.js send` runs one benchmark.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { benchCurve, benchIdle } from './curve';
import { benchEvents } from './events';
import { benchLife } from './life';
import { ROOT } from './processes';
import { benchHot, benchScale } from './scale';
import { benchSend } from './send';
import { benchStored } from './stored';

const BENCHES: Record<string, () => Promise<void>> = {
  life: benchLife,
  curve: benchCurve,
  send: benchSend,
  events: benchEvents,
  scale: benchScale,
  stored: benchStored,
  hot: benchHot,
  idle: benchIdle,
};

const RESULTS = join(ROOT, 'test/bench/RESULTS.md');
/** A part of a benchmark, or one for another command, is no result of this page. */
const PARTIAL =
  process.env['BENCH_SHORT'] === '1' ||
  process.env['BENCH_ROOT'] !== undefined ||
  process.env['BENCH_PROFILE'] !== undefined;

async function main(): Promise<void> {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !(name in BENCHES));
  if (unknown.length > 0) {
    console.error(
      `unknown benchmark ${unknown.join(', ')}: choose from ${Object.keys(BENCHES).join(', ')}`,
    );
    process.exitCode = 2;
    return;
  }
  const printed = collectOutput();
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.log(`\n=== ${name}`);
    printed.length = 0;
    await bench();
    if (!PARTIAL) record(name, printed);
  }
}

/** Lines that `console.log` printed. */
function collectOutput(): string[] {
  const printed: string[] = [];
  const { log } = console;
  console.log = (...words: unknown[]): void => {
    log(...words);
    printed.push(words.join(' '));
  };
  return printed;
}

function record(name: string, lines: readonly string[]): void {
  const commit = String(execFileSync('git', ['describe', '--always', '--dirty'], { cwd: ROOT }));
  const machine = `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 1024 ** 3)} GiB`;
  const about = `Commit ${commit.trim()}, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${machine}.`;
  const page = existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8') : '';
  writeFileSync(RESULTS, withSection(page, Object.keys(BENCHES), { name, about, lines }));
}

const HEAD = `# Results

Written by \`make bench\`, a section for each benchmark: do not edit. [What they measure, and what the
figures say](README.md).`;

/** Returns the page with this benchmark's section replaced, or added in the order of `names`. */
export function withSection(
  page: string,
  names: readonly string[],
  section: { name: string; about: string; lines: readonly string[] },
): string {
  const [, ...parts] = page.split(/^## /m);
  const known = new Map(
    parts.map((part): [string, string] => [part.split('\n')[0] as string, `## ${part.trim()}`]),
  );
  const { name, about, lines } = section;
  known.set(
    name,
    `## ${name}\n\n${about}\n\n\`\`\`text\n${lines.join('\n').replace(/^ *\n/, '').trimEnd()}\n\`\`\``,
  );
  const sections = names.flatMap((one) => known.get(one) ?? []);
  return `${HEAD}\n\n${sections.join('\n\n')}\n`;
}

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
}
