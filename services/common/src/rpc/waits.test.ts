// A slow call reports to its caller what it waited for on the server's side.
import { setTimeout as sleep } from 'node:timers/promises';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { createLogger, PROCESS_NAME, unsampled, Waits } from '../telemetry';
import { createRpcClient, createRpcServer, implement, ownCall } from '.';

const HOST = '127.0.0.1';
const CALL_LIMIT_MS = 10_000;
/** One window of a method's durations, before which none counts as slow. */
const WINDOW = 30;
const SLOW_MS = 300;
const STORED_MS = 40;

test('a call that is slower than nearly all of its method reports its waits', async () => {
  const sendText = async ({ text }: { text: string }, { waits }: { waits?: Waits }) => {
    if (text === 'slow') {
      await sleep(SLOW_MS);
      waits?.add('mongodb', STORED_MS);
    }
    return { message_id: 'wamid.1', contacts: [], message_status: undefined };
  };
  const part = implement(MessagingDefinition, { sendText } as never);
  const server = createRpcServer({ host: HOST, port: 0 }, [part], createLogger('test'));
  await server.start(new AbortController().signal);
  const client = createRpcClient(MessagingDefinition, `${HOST}:${server.port}`);
  const waitsOf = async (text: string): Promise<Record<string, number>> => {
    const waits = new Waits();
    await client.rpc.sendText({ text } as never, { ...ownCall(unsampled(), CALL_LIMIT_MS), waits });
    return waits.report('test', 0);
  };
  try {
    for (let call = 0; call < WINDOW; call += 1) {
      expect(Object.keys(await waitsOf('fast'))).toEqual(['rpc', 'test']);
    }
    const { mongodb, [PROCESS_NAME]: own, rpc } = await waitsOf('slow');
    expect(mongodb).toBe(STORED_MS);
    expect(own).toBeGreaterThan(SLOW_MS - STORED_MS - 5);
    expect(rpc).toBeGreaterThanOrEqual(0);
  } finally {
    await client.stop();
    await server.stop();
  }
});
