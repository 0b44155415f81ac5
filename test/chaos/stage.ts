// The stage of a run: a mesh of processes with separate engines, a link for each pair of them, and
// partners of every kind.
import { mkdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { createRpcClient, ownCall, type Client } from '@bmg/common/rpc';
import { unsampled } from '@bmg/common/telemetry';
import { OperatorDefinition } from '@bmg/proto/onboarding';
import { addressSetting, type ServiceName } from '@bmg/local';
import {
  enginePorts,
  newPlace,
  ONE,
  startProcessMesh,
  TWO_A,
  TWO_B,
  type ProcessMesh,
} from '../harness/process-mesh';
import { isStandardSigned, startPartner } from '../testkit/partner';
import type { SeededNumber } from '../testkit/rest';
import { mountDisks } from './disks';
import { eventKey, type Arrival, type WebhookPost } from './history';
import { recordIngress, type IngressRecorder } from './ingress';
import { CALLS, startLink, type Link, type Server } from './links';

export interface StagePartner {
  name: string;
  partner_id: string;
  key: string;
  number: SeededNumber;
  receiver: Awaited<ReturnType<typeof startReceiver>> | null;
  /** Every secret that it has had, for the scan of the logs. */
  secrets: string[];
  keys: string[];
  /** False while it deletes and registers its client again and again. */
  stays: boolean;
  is_faulty: boolean;
}

/** What traffic and collection need of a mesh: on this machine or in a cluster. */
export interface Scene {
  /** Folder of the logs that are searched for secrets. */
  mesh: Pick<ProcessMesh, 'dir' | 'base_url' | 'emulator' | 'env'>;
  operator: Pick<Client<OperatorDefinition>, 'rotateKey' | 'rotateWebhookSecret'>;
  ingress: Pick<IngressRecorder, 'post'>;
  partners: StagePartner[];
  arrivals: Arrival[];
  webhooks: WebhookPost[];
  /** Milliseconds since the start of the run. */
  now(): number;
}

/** `links` are keyed by `caller>server`; faults make the `faulty` receiver misbehave. */
export type Stage = Awaited<ReturnType<typeof openStage>>;

const NUMBERS = { ONE, TWO_A, TWO_B };
const PRELOAD = resolve(__dirname, 'preload.js');
const RATE_LIMIT = 10_000;
const CALL_LIMIT_MS = 60_000;
export const APP_SECRETS = ['app-secret-local', 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='];

/** Shorter than in production, so that unknown outcomes resolve during the run. */
const SETTINGS = { BROADCAST_LEASE_MS: '3000', BROADCAST_GRACE_MS: '8000', LOG_LEVEL: 'info' };

export interface PartnerKind {
  name: string;
  number: 'ONE' | 'TWO_A' | 'TWO_B';
  has_receiver: boolean;
  is_faulty?: boolean;
  leaves?: boolean;
}

export const PARTNERS: readonly PartnerKind[] = [
  { name: 'steady', number: 'ONE', has_receiver: true },
  { name: 'faulty', number: 'ONE', has_receiver: true, is_faulty: true },
  { name: 'rotating', number: 'ONE', has_receiver: true },
  { name: 'puller', number: 'TWO_A', has_receiver: false },
  { name: 'leaving', number: 'TWO_A', has_receiver: true, leaves: true },
  { name: 'broadcaster', number: 'TWO_B', has_receiver: true },
];

export async function openStage(dir: string) {
  const began = performance.now();
  const now = (): number => Math.round(performance.now() - began);
  const env = { ...(await newPlace()), ...(await enginePorts()) } as Record<string, string>;
  const links = await openLinks(dir, env);
  const data = ['kafka', 'redis'].map((name) => join(dir, 'data', name));
  for (const folder of data) mkdirSync(folder, { recursive: true });
  const disks = mountDisks(data);
  const webhooks: WebhookPost[] = [];
  const arrivals: Arrival[] = [];
  const ingress = await recordIngress(webhooks, now);
  const closers = [
    () => ingress.close(),
    ...Object.values(links).map((link) => () => link.close()),
    async () => disks.close(),
  ];
  const closeAll = async (): Promise<void> => {
    for (const close of closers) await close();
  };
  try {
    const mesh = await startProcessMesh({
      dir,
      own_engines: true,
      env: {
        ...env,
        ...SETTINGS,
        EMULATOR_WEBHOOK_URL: ingress.url,
        CHAOS_DIR: dir,
        NODE_OPTIONS: `--require ${PRELOAD}`,
      },
    });
    closers.unshift(() => mesh.stop());
    ingress.forwardTo(`http://127.0.0.1:${links['upstream>webhooks']?.port}/webhooks/upstream`);
    await mesh.emulator.limits({ rate_per_sec: 'off' });
    const client = createRpcClient(OperatorDefinition, mesh.settings['ONBOARDING_ADDR'] as string);
    closers.unshift(() => client.stop());
    const partners: StagePartner[] = [];
    for (const kind of PARTNERS) {
      const deps = { mesh, operator: client.rpc, arrivals, now };
      partners.push(await createPartner(kind, NUMBERS[kind.number], deps));
    }
    closers.unshift(
      ...partners.flatMap(({ receiver }) => (receiver ? [() => receiver.close()] : [])),
    );
    const { receiver } = partners.find(({ is_faulty }) => is_faulty) as StagePartner;
    const faulty = receiver as NonNullable<typeof receiver>;
    const parts = { dir, mesh, operator: client.rpc, links, disks, ingress, partners, faulty };
    return { ...parts, arrivals, webhooks, now, stop: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

export interface PartnerDeps extends Pick<Scene, 'arrivals' | 'now'> {
  mesh: Pick<ProcessMesh, 'base_url'>;
  operator: Pick<Client<OperatorDefinition>, 'createPartner'>;
  /** The address at which its receiver listens; 127.0.0.1 unless given. */
  host?: string;
}

/** Creates the partner, starts its receiver and registers its number. */
export async function createPartner(
  kind: PartnerKind,
  number: SeededNumber,
  deps: PartnerDeps,
): Promise<StagePartner> {
  const { name } = kind;
  const secrets: string[] = [];
  const receiver = kind.has_receiver ? await startReceiver(name, secrets, deps) : null;
  const created = await deps.operator.createPartner(
    {
      name,
      webhook_url: receiver?.url,
      rate_limit_per_sec: RATE_LIMIT,
      max_wabas: undefined,
    },
    ownCall(unsampled(), CALL_LIMIT_MS),
  );
  secrets.push(created.webhook_secret);
  const answer = await fetch(`${deps.mesh.base_url}/clients/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-partner-key': created.partner_key },
    body: JSON.stringify(number),
  });
  if (!answer.ok) throw new Error(`registering ${name}: ${answer.status} ${await answer.text()}`);
  return {
    name,
    number,
    receiver,
    secrets,
    partner_id: created.partner_id,
    key: created.partner_key,
    keys: [created.partner_key],
    stays: !kind.leaves,
    is_faulty: kind.is_faulty ?? false,
  };
}

/**
 * A partner's receiver, which fails on demand. Records each event with its own answer, and verifies
 * the signature. `secrets` are those that the
 * partner has had so far.
 */
async function startReceiver(
  partner: string,
  secrets: string[],
  { arrivals, now, host }: PartnerDeps,
) {
  const server = await startPartner({ host });
  let misbehave: ((response: ServerResponse) => void) | undefined;
  server.behave((got, response) => {
    const arrival: Arrival = {
      partner,
      at_ms: now(),
      event_id: String(got.headers['webhook-id']),
      event: eventKey(got.body.event, got.body.data['message_id']),
      waba_id: got.body.waba_id,
      answered: 0,
      is_signed: secrets.some((secret) => isStandardSigned(got, secret)),
    };
    arrivals.push(arrival);
    // An hour of arrivals is too much to keep: only the records are kept.
    server.arrivals.length = 0;
    response.on('finish', () => (arrival.answered = response.statusCode));
    if (misbehave) misbehave(response);
    else response.end('ok');
  });
  return {
    url: server.url,
    /** Takes over the answers; undefined accepts every event again. */
    behave: (next: typeof misbehave) => void (misbehave = next),
    close: () => server.close(),
  };
}

/** Starts a link for each pair, and writes the file from which the processes learn their ports. */
async function openLinks(dir: string, env: Record<string, string>) {
  const links: Record<string, Link> = {};
  const routes: Record<string, Record<string, number>> = {};
  for (const [caller, servers] of Object.entries(CALLS)) {
    for (const server of servers) {
      const target = portOf(server, env, caller);
      const link = await startLink(target);
      links[`${caller}>${server}`] = link;
      (routes[caller] ??= {})[target] = link.port;
    }
  }
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'links.json'), JSON.stringify(routes));
  return links;
}

function portOf(server: Server, env: Record<string, string>, caller: string): number {
  if (caller === 'upstream') return Number(env['INGRESS_PORT']);
  if (server === 'upstream') return Number(env['EMULATOR_PORT']);
  const engine = env[`${server.toUpperCase()}_PORT`];
  if (engine !== undefined) return Number(engine);
  return Number(env[addressSetting(server as ServiceName)]?.split(':')[1]);
}
