// `make clean`: stops the mesh and removes its data, logs and settings.
import { runCli } from './cli';
import { clean } from './stop-mesh';

runCli(async () => {
  const stopped = await clean();
  if (stopped.length > 0) console.log(`stopped ${stopped.join(', ')}`);
  console.log('removed the data, logs and settings under .run');
});
