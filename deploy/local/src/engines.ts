// `make engines`: Kafka, MongoDB and Redis alone, for tests and services that are run by hand.
import { runCli } from './cli';
import { hideSecrets } from './describe';
import { upEngines } from './start-mesh';

runCli(async () => {
  const { settings, started } = await upEngines();
  if (started.length === 0) console.log('the engines are up already');
  for (const name of ['MONGO_URL', 'KAFKA_BROKERS', 'REDIS_URL']) {
    console.log(`${name}=${hideSecrets(settings[name] ?? '')}`);
  }
});
