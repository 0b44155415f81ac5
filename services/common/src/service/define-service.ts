// The composition of every service: engines are opened once, features add RPCs, consumers and
// background work, and all of it starts in one order and stops in the reverse one.
import { gathered, topics, type Bus, type Received } from '../bus';
import type { Component, Service } from '../lifecycle';
import {
  createRpcClient,
  createRpcServer,
  type Client,
  type Definition,
  type Implementation,
} from '../rpc';
import { createLogger, type Logger } from '../telemetry';
import type { Consumers, Feature } from './feature';

interface Settings {
  METRICS_HOST: string;
  METRICS_PORT: number;
  STOP_TIMEOUT_MS: number;
  DRAIN_MS: number;
  /** Absent in a service without RPCs. */
  GRPC_HOST?: string;
  GRPC_PORT?: number;
}

export interface Kit<C> {
  config: C;
  log: Logger;
  /** Starts the component before all features, in the order of these calls. */
  use<T extends Component>(this: void, component: T): T;
  /** The bus starts after the features' buffers and before their workers. */
  useBus(this: void, bus: Bus): Bus;
  /** Returns a client of another service; undefined if the service has no address here. */
  connect<D extends Definition, A extends string | undefined>(
    this: void,
    definition: D,
    address: A,
  ): Client<D> | (A extends string ? never : undefined);
}

interface ServiceDefinition<C, D> {
  name: string;
  message_limit_bytes?: number;
  open(kit: Kit<C>): D;
  features: ReadonlyArray<(deps: D) => Feature>;
}

export interface DefinedService extends Service {
  /** The gRPC port, known once started; 0 without RPCs. */
  port(): number;
}

/** Statuses of several partitions are handled together: at a moderate load a batch has one. */
const STATUSES_APART_MS = 100;

export const defineService =
  <C extends Settings, D>({ name, message_limit_bytes, open, features }: ServiceDefinition<C, D>) =>
  ({ config, warnings }: { config: C; warnings: string[] }): DefinedService => {
    const log = createLogger(name);
    const engines: Component[] = [];
    let bus: Bus | undefined;
    const use = <T extends Component>(component: T): T => {
      engines.push(component);
      return component;
    };
    const deps = open({
      config,
      log,
      use,
      useBus: (opened) => (bus = opened),
      connect: (definition, address) =>
        (address === undefined
          ? undefined
          : use(createRpcClient(definition, address)).rpc) as Client<typeof definition>,
    });
    const parts = features.map((feature) => feature(deps));
    if (bus) consume(bus, name, parts);
    const rpcs = joined(parts.flatMap((part) => part.rpcs ?? []));
    const { GRPC_HOST: host = '', GRPC_PORT: port = 0 } = config;
    const server =
      rpcs.length > 0 ? createRpcServer({ host, port, message_limit_bytes }, rpcs, log) : undefined;
    return {
      name,
      components: [
        ...engines,
        ...parts.flatMap(({ buffers = [] }) => buffers),
        ...(bus ? [bus] : []),
        ...parts.flatMap(({ workers = [] }) => workers),
        ...(server ? [server] : []),
        ...parts.flatMap(({ doors = [] }) => doors),
      ],
      metrics: { host: config.METRICS_HOST, port: config.METRICS_PORT },
      onReady: (ready) => server?.health.set(ready),
      stop_timeout_ms: config.STOP_TIMEOUT_MS,
      drain_ms: config.DRAIN_MS,
      warnings,
      port: () => server?.port ?? 0,
    };
  };

/** Joins the parts of each definition. Throws if two implement a method, or none does. */
function joined(parts: Implementation[]): Implementation[] {
  const byDefinition = new Map<Definition, Record<string, unknown>>();
  for (const { definition, handlers } of parts) {
    const known = byDefinition.get(definition) ?? {};
    const twice = Object.keys(handlers).find((method) => method in known);
    if (twice) throw new Error(`${definition.name}: two features implement ${twice}`);
    byDefinition.set(definition, { ...known, ...handlers });
  }
  return [...byDefinition].map(([definition, handlers]) => {
    const missing = Object.keys(definition.methods).find((method) => !(method in handlers));
    if (missing) throw new Error(`${definition.name}: no feature implements ${missing}`);
    return { definition, handlers };
  });
}

type Handler = (batch: Received<any>[]) => Promise<void>; // any: each topic has its own message type

/** Consumer groups are named by service and topic; fan-out's first one has the name of the service. */
export const groupOf = (service: string, topic: keyof typeof topics): string =>
  topic === 'webhookByNumber' ? service : `${service}-${topic}`;

function consume(bus: Bus, service: string, parts: Feature[]): void {
  for (const topic of Object.keys(topics) as Array<keyof Consumers>) {
    const consuming = parts.filter(({ consumers }) => consumers?.[topic]);
    if (consuming.length === 0) continue;
    const inOrder: Handler = async (batch) => {
      for (const { consumers } of consuming) await (consumers?.[topic] as Handler)(batch);
    };
    const handler = topic === 'status' ? gathered(STATUSES_APART_MS, inOrder) : inOrder;
    bus.consume<any>(topics[topic], groupOf(service, topic), handler, () => {
      for (const { onAssigned } of consuming) onAssigned?.();
    }); // any: as above
  }
}
