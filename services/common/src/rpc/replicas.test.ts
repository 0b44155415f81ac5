// Restarts two replicas of a server in turn while clients make calls that must not be executed
// twice.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { MessagingDefinition } from '@bmg/proto/messaging';
import type { ApiError } from '../errors';
import { call, HOST } from '../../test/rpc';
import { createRpcClient } from '.';
import { eventually } from '../../../../test/testkit/eventually';

const CALL_LIMIT_MS = 10_000;
const STOPS = 2;
const CALLERS = 20;
/** Calls between two stops. */
const STRETCH = 300;

/** Answers after a short delay, so that calls are in flight when the server stops. */
const SERVER = `
  const { createRpcServer, implement } = require('@bmg/common/rpc');
  const { MessagingDefinition } = require('@bmg/proto/messaging');
  const { createLogger } = require('@bmg/common/telemetry');
  const sendText = () => new Promise((resolve) =>
    setTimeout(resolve, Math.random() * 4, { message_id: 'wamid.1', contacts: [] }));
  const settings = { host: '${HOST}', port: Number(process.argv[1]) };
  const server = createRpcServer(settings, [implement(MessagingDefinition, { sendText })], createLogger('test'));
  server.start().then(() => process.stdout.write(String(server.port)));
  process.once('SIGTERM', () => server.stop().then(() => process.exit(0)));
`;

interface Started {
  child: ChildProcess;
  port: number;
}

async function startServer(port = 0): Promise<Started> {
  const child = spawn(process.execPath, ['-e', SERVER, String(port)], {
    cwd: __dirname,
    env: { ...process.env, LOG_LEVEL: 'fatal' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, port: Number(said) };
}

test('no call fails while one of two replicas shuts down', async () => {
  const servers = await Promise.all([startServer(), startServer()]);
  const address = servers.map(({ port }) => `${HOST}:${port}`).join(',');
  const { rpc, stop } = createRpcClient(MessagingDefinition, address);
  const failed: string[] = [];
  let calls = 0;
  let on = true;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (on) {
      await rpc.sendText({ text: 'x' } as never, call(CALL_LIMIT_MS)).catch((error: ApiError) => {
        failed.push(`${error.code} ${(error.cause as Error).message}`);
      });
      calls += 1;
    }
  });
  try {
    for (let time = 0; time < STOPS; time += 1) {
      const enough = calls + STRETCH;
      await eventually(() => calls >= enough);
      const { child, port } = servers.shift() as Started;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await gone).toEqual([0, null]);
      servers.push(await startServer(port));
    }
  } finally {
    on = false;
    await Promise.all(callers);
    await stop();
    for (const { child } of servers) child.kill('SIGKILL');
  }
  expect(failed).toEqual([]);
});
