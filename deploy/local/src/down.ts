// `make down`: stops every process of the mesh; its data stays.
import { runCli } from './cli';
import { down } from './stop-mesh';

runCli(async () => {
  const stopped = await down();
  console.log(stopped.length > 0 ? `stopped ${stopped.join(', ')}` : 'nothing was running');
});
