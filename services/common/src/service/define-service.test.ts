// The order of components and consumers, and the check that every RPC has one implementation.
import type { Bus, Received } from '../bus';
import type { Component } from '../lifecycle';
import { implementPart } from '../rpc';
import { DataDefinition } from '@bmg/proto/data';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import { defineService, type Feature, type Kit } from '.';

const config = { METRICS_HOST: '', METRICS_PORT: 0, STOP_TIMEOUT_MS: 1_000, DRAIN_MS: 0 };
const component = (name: string): Component => ({
  name,
  start: async () => undefined,
  stop: async () => undefined,
});
type Consumed = Record<string, (batch: Received<unknown>[]) => Promise<void>>;

function busDouble(): { bus: Bus; consumed: Consumed } {
  const consumed: Consumed = {};
  const consume = (_: unknown, group: string, handler: Consumed[string]): void => {
    consumed[group] = handler;
  };
  return { bus: { ...component('bus'), consume } as unknown as Bus, consumed };
}

const create = (features: Feature[], open: (kit: Kit<typeof config>) => void = () => undefined) =>
  defineService({ name: 'parts', open, features: features.map((one) => () => one) })({
    config,
    warnings: [],
  });

test('starts engines, buffers, the bus, workers, the RPC server and doors in this order', () => {
  const purgeClient = async () => ({ purged: [] });
  const { components } = create(
    [
      { workers: [component('worker')], rpcs: [implementPart(DataDefinition, { purgeClient })] },
      { buffers: [component('buffer')], doors: [component('door')] },
    ],
    ({ use, useBus, connect }) => {
      useBus(busDouble().bus);
      use(component('engine'));
      connect(DirectoryDefinition, '127.0.0.1:9');
      expect(connect(DirectoryDefinition, undefined)).toBeUndefined();
    },
  );
  expect(components.map(({ name }) => name)).toEqual([
    'engine',
    'rpc:Directory',
    'buffer',
    'bus',
    'worker',
    'grpc',
    'door',
  ]);
});

test('passes each batch through the features in order', async () => {
  const { bus, consumed } = busDouble();
  const taken: string[] = [];
  const note = (text: string) => async (batch: unknown[]) => {
    taken.push(`${text}: ${batch.length}`);
  };
  const status = { status: note('first') };
  create(
    [
      { consumers: status },
      { consumers: { template: note('template'), status: note('second'), alert: note('alert') } },
    ],
    ({ useBus }) => void useBus(bus),
  );
  expect(Object.keys(consumed).sort()).toEqual(['parts-alert', 'parts-status', 'parts-template']);
  const received = { message: {} } as Received<unknown>;
  await consumed['parts-status']?.([received, received]);
  expect(taken).toEqual(['first: 2', 'second: 2']);
});

test('refuses a service without a handler for an RPC, and two handlers for one', () => {
  const purgeClient = async () => ({ purged: [] });
  const one = { rpcs: [implementPart(DataDefinition, { purgeClient })] };
  expect(() => create([{ rpcs: [implementPart(DataDefinition, {})] }])).toThrow(
    'no feature implements purgeClient',
  );
  expect(() => create([one, one])).toThrow('two features implement purgeClient');
});
