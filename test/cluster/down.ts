// make cluster-down: removes machines, network, keys and a Docker daemon of our own. The cache
// stays.
import { rmSync } from 'node:fs';
import { startDocker, stopDocker } from './docker';
import { STATE } from './facts';
import { removeMachines } from './machines';
import { step } from './run';

async function main(): Promise<void> {
  await startDocker();
  const found = await step('machines', removeMachines);
  rmSync(STATE, { recursive: true, force: true });
  await step('Docker', stopDocker);
  console.log(
    found ? 'The cluster is gone; the cache stays for the next one.' : 'There was no cluster.',
  );
}

main().catch((error: unknown) => {
  console.error((error as Error).message);
  process.exitCode = 1;
});
