// `make up`, `down`, `engines` and `clean`: the background mesh. An error that the user can fix is
// printed as one message, any other with its stack.
import { LocalError, messageOf } from './errors';
import { describeMesh, hideSecrets } from './mesh';
import { RUN_DIR } from './paths';
import { loadSampleRates } from './sample-rates';
import { readEnv } from './settings';
import { up, upEngines } from './start-mesh';
import { clean, down } from './stop-mesh';

const COMMANDS: Record<string, () => Promise<void>> = {
  async up() {
    const { started, settings } = await up();
    if (started.length === 0) console.log('the mesh is already running');
    const loaded = await loadSampleRates(settings);
    if (loaded) console.log(loaded);
    for (const line of describeMesh(readEnv(RUN_DIR))) console.log(line);
  },
  async down() {
    const stopped = await down();
    console.log(stopped.length > 0 ? `stopped ${stopped.join(', ')}` : 'nothing was running');
  },
  /** Starts only Kafka, MongoDB and Redis, for tests and services run by hand. */
  async engines() {
    const { settings, started } = await upEngines();
    if (started.length === 0) console.log('the engines are already running');
    for (const name of ['MONGO_URL', 'KAFKA_BROKERS', 'REDIS_URL']) {
      console.log(`${name}=${hideSecrets(settings[name] ?? '')}`);
    }
  },
  async clean() {
    const stopped = await clean();
    if (stopped.length > 0) console.log(`stopped ${stopped.join(', ')}`);
    console.log('removed the data, logs and settings under .run');
  },
};

COMMANDS[process.argv[2] ?? '']?.().catch((error: unknown) => {
  console.error(error instanceof LocalError ? messageOf(error) : error);
  process.exitCode = 1;
});
