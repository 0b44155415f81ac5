// `make up`: starts the whole mesh in the background.
import { runCli } from './cli';
import { readEnv } from './env-file';
import { RUN_DIR } from './paths';
import { loadSampleRates } from './sample-rates';
import { up } from './start-mesh';
import { describeMesh } from './describe';

runCli(async () => {
  const { started, settings } = await up();
  if (started.length === 0) console.log('the mesh is already running');
  const loaded = await loadSampleRates(settings);
  if (loaded) console.log(loaded);
  for (const line of describeMesh(readEnv(RUN_DIR))) console.log(line);
});
