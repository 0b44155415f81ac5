// A partner's receiver: records what arrives, verifies it, and fails on demand.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Arrival {
  at: number;
  headers: IncomingHttpHeaders;
  raw: string;
  body: {
    event: string;
    waba_id: string;
    phone_number_id: string | null;
    timestamp: number;
    data: Record<string, any>; // any: a payload has its event's own fields
    meta: { event_id: string } & Record<string, unknown>;
  };
}

/** How the receiver answers; by default 200 at once. */
export type Behaviour = (arrival: Arrival, response: ServerResponse) => void | Promise<void>;

export interface PartnerReceiver {
  url: string;
  port: number;
  arrivals: Arrival[];
  of(event: string): Arrival[];
  behave(behaviour: Behaviour | undefined): void;
  close(): Promise<void>;
}

/** Listens on 127.0.0.1 and a free port unless the options say otherwise. */
export async function startPartner(
  options: { port?: number; host?: string | undefined } = {},
): Promise<PartnerReceiver> {
  const { host = '127.0.0.1' } = options;
  const arrivals: Arrival[] = [];
  let behaviour: Behaviour | undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks).toString('utf8');
      const arrival: Arrival = {
        at: Date.now(),
        headers: request.headers,
        raw,
        body: JSON.parse(raw) as Arrival['body'],
      };
      arrivals.push(arrival);
      if (behaviour) void behaviour(arrival, response);
      else response.end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}/hook`,
    port,
    arrivals,
    of: (event) => arrivals.filter(({ body }) => body.event === event),
    behave: (next) => {
      behaviour = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A secret for an endpoint: one that is created with it is active at once. */
export const chosenSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`;

/** The contract's own signature: the whole secret is the key, over the exact bytes. */
export function isSigned({ raw, headers }: Arrival, secret: string): boolean {
  const expected = `sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`;
  const given = String(headers['x-service-signature'] ?? '');
  return (
    given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
  );
}

/** The Standard Webhooks signature: prefix off, base64 decoded, over id.timestamp.body. */
export function isStandardSigned({ raw, headers }: Arrival, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${raw}`;
  const expected = `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(expected);
}
