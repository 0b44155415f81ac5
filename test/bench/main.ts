// make bench: measures the mesh and its yardstick in the same run. `node main.js send` runs one
// benchmark. A run of all of them writes RESULTS.md.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { benchBroadcast } from './broadcast';
import { benchEvents } from './events';
import { benchNumberAdmin } from './number-admin';
import { benchQuiet } from './quiet';
import { ROOT } from './processes';
import { benchScale, benchStored } from './scale';
import { benchSend } from './send';

const BENCHES: Record<string, () => Promise<void>> = {
  send: benchSend,
  'number-admin': benchNumberAdmin,
  events: benchEvents,
  scale: benchScale,
  stored: benchStored,
  quiet: benchQuiet,
  broadcast: benchBroadcast,
};

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
    await bench();
  }
  if (wanted.length === 0) writeResults(printed);
}

function collectOutput(): string[] {
  const printed: string[] = [];
  const { log } = console;
  console.log = (...words: unknown[]): void => {
    log(...words);
    printed.push(words.join(' '));
  };
  return printed;
}

function writeResults(printed: readonly string[]): void {
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { cwd: ROOT });
  const machine = `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 1024 ** 3)} GiB, Node ${process.version}`;
  writeFileSync(
    join(ROOT, 'test/bench/RESULTS.md'),
    `# Results\n\nWritten by \`make bench\`; do not edit.\n\n- Commit: ${String(commit).trim()}\n- Machine: ${machine}, which also runs the engines and the driver\n\n\`\`\`text\n${printed.join('\n').trim()}\n\`\`\`\n`,
  );
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
