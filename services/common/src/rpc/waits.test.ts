// A slow call reports to its caller what it waited for on the server's side.
import { setTimeout as sleep } from 'node:timers/promises';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { call, HOST, useRpc } from '../../test/rpc';
import { PROCESS_NAME, Waits } from '../telemetry';

const CALL_LIMIT_MS = 10_000;
/** One window of a method's durations, before which none counts as slow. */
const WINDOW = 30;
const SLOW_MS = 300;
const STORED_MS = 40;

const { serve, client } = useRpc();

test('a call that is slower than nearly all of its method reports its waits', async () => {
  const sendText = async ({ text }: { text: string }, { waits }: { waits?: Waits }) => {
    if (text === 'slow') {
      await sleep(SLOW_MS);
      waits?.add('mongodb', STORED_MS);
    }
    return { message_id: 'wamid.1', contacts: [], message_status: undefined };
  };
  const { port } = await serve(MessagingDefinition, { sendText });
  const rpc = client(MessagingDefinition, `${HOST}:${port}`);
  const waitsOf = async (text: string): Promise<Record<string, number>> => {
    const waits = new Waits();
    await rpc.sendText({ text } as never, { ...call(CALL_LIMIT_MS), waits });
    return waits.report('test', 0);
  };
  for (let made = 0; made < WINDOW; made += 1) {
    expect(Object.keys(await waitsOf('fast'))).toEqual(['rpc', 'test']);
  }
  const { mongodb, [PROCESS_NAME]: own, rpc: on_the_way } = await waitsOf('slow');
  expect(mongodb).toBe(STORED_MS);
  expect(own).toBeGreaterThan(SLOW_MS - STORED_MS - 5);
  expect(on_the_way).toBeGreaterThanOrEqual(0);
});
