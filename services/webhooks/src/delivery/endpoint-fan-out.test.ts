import type { Unsettled } from '@bmg/common/bus';
import { GetReceiverResponse, ReceiverEndpoint } from '@bmg/proto/onboarding';
import type { Delivery } from '@bmg/proto/stream';
import { eventually } from '../../../../test/testkit/eventually';
import { unsettled } from '../../test/builders';
import { EndpointFanOut } from './endpoint-fan-out';
import type { Receiver } from './receivers';

const endpoint = (endpoint_id: string, filter: Partial<ReceiverEndpoint> = {}) =>
  ReceiverEndpoint.fromPartial({ endpoint_id, status: 'active', ...filter });
const receiver = (...endpoints: ReceiverEndpoint[]): Receiver =>
  GetReceiverResponse.fromPartial({ status: 'active', endpoints });

let settled: string[];
let tracked: Array<[event_id: string, endpoint_id: string, settle: () => void]>;
let known: Receiver | undefined;
let looked_up: () => Promise<Receiver>;
let delivered: string[];
let stopped: AbortController;
beforeEach(() => {
  settled = [];
  tracked = [];
  known = undefined;
  delivered = [];
  stopped = new AbortController();
});
afterEach(() => stopped.abort());

const message = (event_id: string, body = 10, event = 'message.received'): Unsettled<Delivery> =>
  unsettled(
    { event_id, partner_id: 'ptn_1', event, body: Buffer.alloc(body) },
    { done: () => void settled.push(event_id) },
  );

const aFanOut = (): EndpointFanOut =>
  new EndpointFanOut({
    receivers: { peek: () => known, of: () => looked_up() },
    seen: {
      has: () => false,
      hasEach: async (keys) => keys.map((key) => delivered.includes(key)),
      remember: () => undefined,
    },
    log: { warn: () => undefined } as never,
    signal: stopped.signal,
    track: ({ message: { event_id }, done }, endpoint) =>
      tracked.push([event_id, endpoint?.endpoint_id ?? 'webhook-url', done]),
    tracked: () => undefined,
  });
const turns = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const copies = (): string[] =>
  tracked.map(([event_id, endpoint_id]) => `${event_id} ${endpoint_id}`);

test('a partner without endpoints costs nothing: its message is the one that was given', () => {
  known = receiver();
  const given = message('e1');
  expect(aFanOut().split(given)).toBe(given);
});

test('the offset waits for the webhook URL and for every endpoint that wants the event', async () => {
  known = receiver(endpoint('a'), endpoint('b'), endpoint('c', { events: ['template.*'] }));
  looked_up = async () => known as Receiver;
  const own = aFanOut().split(message('e1'));
  await turns();
  expect(copies()).toEqual(['e1 a', 'e1 b']);
  own?.done();
  tracked[0]?.[2]();
  expect(settled).toEqual([]);
  tracked[1]?.[2]();
  expect(settled).toEqual(['e1']);
});

test('an endpoint that has the event already gets it no second time', async () => {
  looked_up = async () => receiver(endpoint('a'), endpoint('b'));
  delivered = ['e1/a', 'e2/a', 'e2/b'];
  const fanOut = aFanOut();
  const own = ['e1', 'e2'].map((id) => fanOut.split(message(id)));
  await turns();
  expect(copies()).toEqual(['e1 b']);
  for (const one of own) one?.done();
  expect(settled).toEqual(['e2']);
});

test('events keep their order while the directory is unreachable, and none is lost', async () => {
  let fails = 1;
  looked_up = async () => {
    if (fails-- > 0) throw new Error('unreachable');
    return receiver(endpoint('a'));
  };
  const fanOut = aFanOut();
  for (const id of ['e1', 'e2']) fanOut.split(message(id))?.done();
  await turns();
  expect([copies(), settled]).toEqual([[], []]);
  known = receiver(endpoint('a'));
  fanOut.split(message('e3'))?.done();
  await eventually(() => copies().length > 2);
  expect(copies()).toEqual(['e1 a', 'e2 a', 'e3 a']);
});

test('the intake waits above a number of events and above an amount of bytes', async () => {
  looked_up = () => new Promise(() => undefined);
  const many = aFanOut();
  for (let count = 0; count < 5_000; count += 1) many.split(message(`e${count}`, 0));
  expect(many.isFull()).toBe(false);
  many.split(message('last', 0));
  expect(many.isFull()).toBe(true);
  const large = aFanOut();
  large.split(message('e1', 17 * 1024 * 1024));
  expect(large.isFull()).toBe(true);
});

test.each<[string, string[], string[]]>([
  ['the receivers that name it', ['call.connect'], ['e1 webhook-url', 'e1 named', 'e1 newer']],
  ['no webhook URL that names others', ['flow.updated'], ['e1 named', 'e1 newer']],
])('an extra event goes to %s', async (_name, extra_events, expected) => {
  const filters = {
    named: { events: ['call.connect'] },
    newer: { events: ['call.*'], extra_by_prefix: true },
    older: { events: ['call.*'] },
    all: {},
  };
  const endpoints = Object.entries(filters).map(([id, filter]) => endpoint(id, filter));
  known = { ...receiver(...endpoints), extra_events };
  looked_up = async () => known as Receiver;
  expect(aFanOut().split(message('e1', 10, 'call.connect'))).toBeUndefined();
  await turns();
  expect(copies()).toEqual(expected);
  for (const [, , settle] of tracked) settle();
  expect(settled).toEqual(['e1']);
});

test('an extra event that its receivers no longer name is settled without a delivery', async () => {
  known = receiver();
  looked_up = async () => known as Receiver;
  aFanOut().split(message('e1', 10, 'call.connect'));
  await turns();
  expect(tracked).toEqual([]);
  expect(settled).toEqual(['e1']);
});
