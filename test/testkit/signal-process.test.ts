import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort, isFree } from '../../deploy/local/src/ports';
import { signalProcess } from './signal-process';

// Its memory is given back before its ports are.
const HOLDER = `
  const memory = Buffer.alloc(400 * 1024 * 1024, 1);
  require('node:net').createServer().listen(Number(process.argv[1]), '127.0.0.1', () => {
    console.log(memory.length);
  });
`;

test('a killed process has ended, and its ports are free, once the signal is sent', async () => {
  const port = await freePort();
  const holder = spawn(process.execPath, ['-e', HOLDER, String(port)]);
  await once(holder.stdout, 'data');
  await signalProcess(holder.pid as number, 'SIGKILL');
  expect(await isFree(port)).toBe(true);
});
