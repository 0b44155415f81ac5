// `make down`: stops whatever of the mesh runs, and keeps its data.
import { runCli } from './cli';
import { down } from './stop-mesh';

runCli(async () => {
  const stopped = await down();
  console.log(stopped.length > 0 ? `stopped ${stopped.join(', ')}` : 'nothing was running');
});
