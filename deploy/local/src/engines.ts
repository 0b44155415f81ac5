// `make engines`: starts only Kafka, MongoDB and Redis, for tests and services run by hand.
import { runCli } from './cli';
import { hideSecrets } from './describe';
import { upEngines } from './start-mesh';

runCli(async () => {
  const { settings, started } = await upEngines();
  if (started.length === 0) console.log('the engines are already running');
  for (const name of ['MONGO_URL', 'KAFKA_BROKERS', 'REDIS_URL']) {
    console.log(`${name}=${hideSecrets(settings[name] ?? '')}`);
  }
});
