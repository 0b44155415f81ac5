// Large requests wait for each other as bytes, within a share for each partner; small ones do not wait.
import {
  BroadcastsDefinition,
  CreateBroadcastRequest,
  CreateBroadcastResponse,
} from '@bmg/proto/broadcasts';
import { eventually } from '../../../../test/testkit/eventually';
import { createLogger } from '../telemetry';
import { call, HOST, useRpc } from '../../test/rpc';
import { createLargeRequests, LARGE_BYTES } from './large-requests';

const log = createLogger('test');
const { serve, client } = useRpc();

/** The partners whose requests are handled now, and how to end each. */
const handled: Array<{ partner_id: string; end(): void }> = [];
const createBroadcast = ({ target: { partner_id } }: { target: { partner_id: string } }) =>
  new Promise((resolve) => {
    const end = (): void => resolve(CreateBroadcastResponse.fromPartial({}));
    handled.push({ partner_id, end });
  });

const CODEC = CreateBroadcastRequest as never;
const requestOf = (partner_id: string, bytes: number): CreateBroadcastRequest =>
  CreateBroadcastRequest.fromPartial({ target: { partner_id }, name: 'x'.repeat(bytes) });
const encoded = (partner_id: string, bytes: number): Uint8Array =>
  CreateBroadcastRequest.encode(requestOf(partner_id, bytes)).finish();
const endNext = (): void => handled.shift()?.end();
const partners = (): string[] => handled.map(({ partner_id }) => partner_id);

test('a partner waits for its own large request, the others for two of them, small ones never', async () => {
  const limit = { message_limit_bytes: 4 * LARGE_BYTES };
  const { port } = await serve(BroadcastsDefinition, { createBroadcast }, limit);
  const rpc = client(BroadcastsDefinition, `${HOST}:${port}`);
  const create = (partner_id: string, bytes: number) =>
    rpc.createBroadcast(requestOf(partner_id, bytes), call());
  const first = create('a', 2 * LARGE_BYTES);
  await eventually(() => partners().includes('a'));
  const own = create('a', 2 * LARGE_BYTES);
  const second = create('b', 2 * LARGE_BYTES);
  await eventually(() => partners().includes('b'));
  const third = create('c', 2 * LARGE_BYTES);
  const small = create('d', 10);
  await eventually(() => partners().includes('d'));
  expect(partners()).toEqual(['a', 'b', 'd']);
  endNext();
  await first;
  await eventually(() => handled.length === 3);
  expect(partners()).toEqual(['b', 'd', 'a']);
  endNext();
  await second;
  await eventually(() => partners().includes('c'));
  for (let left = 3; left > 0; left -= 1) endNext();
  await Promise.all([own, small, third]);
});

test('a partner with its share of large requests waiting is refused, and no other', async () => {
  const { handle } = createLargeRequests(log);
  const ends: Array<() => void> = [];
  const handleOf = (partner_id: string) =>
    handle(
      encoded(partner_id, 13 * LARGE_BYTES),
      CODEC,
      Date.now() + 60_000,
      () => new Promise<void>((end) => ends.push(end)),
    );
  const first = handleOf('a');
  await expect(handleOf('a')).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    retryable: true,
  });
  const other = handleOf('b');
  await eventually(() => ends.length === 2);
  for (const end of ends) end();
  await Promise.all([first, other]);
});

test('a request that has waited until its deadline is not handled', async () => {
  const { handle } = createLargeRequests(log);
  const handler = jest.fn(async () => 'handled');
  const handleUntil = (deadline: number) => handle(encoded('a', 1), CODEC, deadline, handler);
  await expect(handleUntil(Date.now() - 1)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(handler).not.toHaveBeenCalled();
  expect(await handleUntil(Date.now() + 60_000)).toBe('handled');
});
