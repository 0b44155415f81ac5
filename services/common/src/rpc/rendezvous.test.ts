// Calls with a route go to one replica, and only the routes of a replica that comes or goes move.
import { DestinationsDefinition } from '@bmg/proto/destinations';
import { eventually } from '../../../../test/testkit/eventually';
import { call, HOST, useRpc } from '../../test/rpc';
import type { RpcServer } from '.';
import { addressFor } from './rendezvous';

const ROUTES = Array.from({ length: 40 }, (_one, at) => `partner_${at}`);

const { serve, client } = useRpc();

test('moves only the routes of the address that has left, and spreads them', () => {
  const all = ['a', 'b', 'c'];
  const before = ROUTES.map((route) => addressFor(route, all));
  const after = ROUTES.map((route) => addressFor(route, ['c', 'a']));
  const moved = ROUTES.filter((_route, at) => before[at] !== after[at]);
  expect(moved).toEqual(ROUTES.filter((_route, at) => before[at] === 'b'));
  expect(new Set(before).size).toBe(3);
  expect(new Set(after).size).toBe(2);
});

test('sends every call of a route to one replica, and to another one once that has stopped', async () => {
  const servers = new Map<string, RpcServer>();
  for (const name of ['one', 'two', 'three']) {
    const send = async () => ({ outcomes: [{ error: name }] });
    servers.set(name, await serve(DestinationsDefinition, { send }));
  }
  const address = [...servers.values()].map(({ port }) => `${HOST}:${port}`).join(',');
  const rpc = client(DestinationsDefinition, address, { by_route: true });
  const request = {
    partner_id: 'p',
    endpoint_id: 'e',
    version: '1',
    destination: undefined,
    events: [],
  };
  const replicaOf = async (route: string): Promise<string> => {
    const reply = await rpc.send(request, { ...call(10_000), route });
    return reply.outcomes[0]?.error ?? '';
  };
  const replicas = (): Promise<string[]> => Promise.all(ROUTES.map(replicaOf));
  // All replicas are connected once calls reach each of them.
  const before = await eventually(async () => {
    const found = await replicas();
    return new Set(found).size === 3 ? found : undefined;
  });
  expect(await replicas()).toEqual(before);
  await servers.get('two')?.stop();
  const after = await replicas();
  expect(after).not.toContain('two');
  for (const [at, name] of before.entries()) {
    if (name !== 'two') expect(after[at]).toBe(name);
  }
});
