// make bench: measures the mesh and its yardstick in the same run. `node main.js send` runs one
// benchmark.
import { benchBroadcast } from './broadcast';
import { benchEvents } from './events';
import { benchNumberAdmin } from './number-admin';
import { benchQuiet } from './quiet';
import { benchSend } from './send';

const BENCHES: Record<string, () => Promise<void>> = {
  send: benchSend,
  'number-admin': benchNumberAdmin,
  events: benchEvents,
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
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.log(`\n=== ${name}`);
    await bench();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
