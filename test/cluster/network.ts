// Which connections the network allows: the chart's policies, enforced by the cluster.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { addressSetting, type ServiceName } from '@bmg/local';
import { load } from '../testkit/yaml';
import { HOST_ADDRESS } from './facts';
import { CHART, ENGINES, inNamespace, isReady, podsOf } from './release';
import { runStranger } from './security';

const CONNECT_LIMIT_MS = 3_000;
const PRIVATE = 'a private address';

interface Facts {
  grpc?: number;
  settings: string[];
  secrets: string[];
  optional_secrets: string[];
}

/** The setting that a service reads if it uses the engine. */
const SETTINGS = { kafka: 'KAFKA_BROKERS', mongo: 'MONGO_URL', redis: 'REDIS_URL' } as const;

/** The chart's facts about each service. */
export const serviceFacts = (): Map<string, Facts> =>
  new Map(
    Object.entries(
      (load(readFileSync(join(CHART, 'files/services.yaml'), 'utf8')) as { services: object })
        .services as Record<string, Facts>,
    ),
  );

interface Target {
  name: string;
  host: string;
  port: number;
  /** True if a service may connect to it, by the settings that it reads. */
  allows(reads: ReadonlySet<string>): boolean;
}

function targets(facts: Map<string, Facts>, outside: number): Target[] {
  const engines = Object.entries(SETTINGS).map(([name, setting]) => ({
    name,
    host: `bmg-${name}`,
    port: ENGINES[name as keyof typeof ENGINES],
    allows: (reads: ReadonlySet<string>) => reads.has(setting),
  }));
  const rpc = [...facts].flatMap(([name, { grpc }]) =>
    grpc === undefined
      ? []
      : [
          {
            name,
            host: `bmg-${name}`,
            port: grpc,
            allows: (reads: ReadonlySet<string>) => reads.has(addressSetting(name as ServiceName)),
          },
        ],
  );
  const private_address = {
    name: PRIVATE,
    host: HOST_ADDRESS,
    port: outside,
    allows: () => false,
  };
  return [...engines, ...rpc, private_address];
}

/** Tries all targets from a pod. Returns those that took the connection. */
async function reachable(pod: string, all: readonly Target[]): Promise<Set<string>> {
  const script = connectScript(all);
  const output = await inNamespace(['exec', pod, '--', 'node', '-e', script]);
  return new Set(JSON.parse(output) as string[]);
}

/** A program for Node.js that prints the names of the targets which took its connection. */
const connectScript = (all: readonly Target[]): string =>
  `const net = require('node:net');
  const one = ({ name, host, port }) => new Promise((done) => {
    const socket = net.connect(port, host);
    const end = (open) => { socket.destroy(); done(open ? [name] : []); };
    socket.setTimeout(${CONNECT_LIMIT_MS}, () => end(false));
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
  Promise.all(${JSON.stringify(all.map(({ name, host, port }) => ({ name, host, port })))}.map(one))
    .then((open) => console.log(JSON.stringify(open.flat())));`;

/**
 * Each service reaches what it is configured to call, and nothing else; an unknown pod reaches
 * nothing.
 */
export async function connections(): Promise<string> {
  const facts = serviceFacts();
  const listener = createServer((_request, response) => response.end());
  listener.listen(0, HOST_ADDRESS);
  await once(listener, 'listening');
  try {
    const all = targets(facts, (listener.address() as AddressInfo).port);
    const wrong: string[] = [];
    let tried = 0;
    const compare = (from: string, open: Set<string>, reads: ReadonlySet<string>): void => {
      for (const { name, allows } of all) {
        // A pod reaches its own port whatever the policies say.
        if (name === from) continue;
        tried += 1;
        if (open.has(name) === allows(reads)) continue;
        wrong.push(`${from} ${open.has(name) ? 'reaches' : 'does not reach'} ${name}`);
      }
    };
    for (const [service, { settings, secrets }] of facts) {
      const pod = (await podsOf(service)).find(isReady);
      if (!pod) throw new Error(`${service} has no pod that is ready`);
      const open = await reachable(pod.metadata.name, all);
      compare(service, open, new Set([...settings, ...secrets]));
    }
    const stranger = await runStranger({ command: ['node', '-e', connectScript(all)] });
    const found = new Set(JSON.parse(stranger.output) as string[]);
    // The chart's policies are about its own pods: where others go is not theirs to say.
    found.delete(PRIVATE);
    compare('an unknown pod', found, new Set());
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
    return `${tried} connections of ${facts.size} services and an unknown pod, each open or closed as it must be`;
  } finally {
    listener.close();
  }
}
