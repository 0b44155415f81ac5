// The drill of deploy/RECOVERY.md: a copy while the mesh works, the loss of the namespace and all
// volumes, and a restore into an empty namespace from the copies only.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { SERVICE_NAMES } from '@bmg/local';
import { ask, untilHealthy, type Asked } from '../chaos/ask';
import type { StagePartner } from '../chaos/stage';
import { eventually } from '../testkit/eventually';
import { copyDatabases, restoreDatabases } from './database-copy';
import { STATE } from './facts';
import { installRelease, startFromNothing } from './install';
import { bmg, inNamespace, json, runHelm } from './release';
import { stopwatch } from './run';
import { GATEWAY, openScene, type ClusterScene } from './scene';
import { stable, upgrade } from './upgrade';

const COPY = join(STATE, 'copy');
const SECRETS_FILE = join(COPY, 'secrets.json');
/** What the release cannot make again. */
const COPIED_SECRETS = ['bmg-secrets', 'bmg-mtls-ca'];
const CONTACT = '15550100777';
const KEYED_CONTACT = '15550100778';
const EVENT_LIMIT_MS = 60_000;
const SERVED_LIMIT_MS = 180_000;
const BASE_URL = `${GATEWAY}/v1`;

const call = async (
  { key, number }: Pick<StagePartner, 'key' | 'number'>,
  method: string,
  path: string,
  body?: unknown,
  idempotency_key?: string,
): Promise<Asked> => {
  const headers = {
    'x-waba-id': number.waba_id,
    ...(idempotency_key && { 'idempotency-key': idempotency_key }),
  };
  const answer = await ask(BASE_URL, key, { method, path, body, headers });
  if (!answer) throw new Error(`${method} ${path}: no answer`);
  return answer;
};

const expectStatus = (what: string, answer: Asked, ...statuses: number[]): void => {
  if (statuses.includes(answer.status)) return;
  const { status, body } = answer;
  throw new Error(
    `${what}: ${status} instead of ${statuses.join(' or ')}, ${JSON.stringify(body)}`,
  );
};

/** Sends a text and waits until its record and its delivery event can be read. Returns its id. */
async function sendAndSee(partner: StagePartner): Promise<string> {
  const sent = await call(partner, 'POST', '/messages/send', { to: CONTACT, text: 'Drill' });
  expectStatus('POST /messages/send', sent, 200);
  const id = sent.body.message_id as string;
  await eventually(async () => {
    const { body } = await call(partner, 'GET', `/messages/${id}/timeline`);
    if (!JSON.stringify(body).includes('delivered')) throw new Error(`${id} is not delivered`);
    return true;
  }, EVENT_LIMIT_MS);
  await eventually(async () => {
    const { body } = await call(partner, 'GET', '/events?limit=1000');
    if (!JSON.stringify(body).includes(id)) throw new Error(`the event log does not name ${id}`);
    return true;
  }, EVENT_LIMIT_MS);
  return id;
}

/**
 * The doctor's checks, but that of the subscriptions: the upstream has forgotten the accounts of
 * earlier scenes.
 */
async function diagnose(): Promise<void> {
  const command = ['sh', '-c', 'bin/bmg.js --json doctor || true'];
  const output = await inNamespace(['exec', 'deploy/bmg-operator', '--', ...command]);
  const { checks } = JSON.parse(output) as { checks: Array<{ name: string; status: string }> };
  const failed = checks.filter(
    ({ name, status }) => status === 'failed' && name !== 'subscriptions',
  );
  if (failed.length > 0) throw new Error(JSON.stringify(failed));
}

interface LoggedEvent {
  seq: number;
  event_id: string;
  envelope: unknown;
}

/** The partner's events after a position, without the states of their deliveries. */
async function eventsOf(partner: StagePartner, after = 0): Promise<LoggedEvent[]> {
  const answer = await call(partner, 'GET', `/events?limit=1000&after=${after}`);
  expectStatus('GET /events', answer, 200);
  const events = answer.body.events as LoggedEvent[];
  return events.map(({ seq, event_id, envelope }) => ({ seq, event_id, envelope }));
}

const lastOf = (events: LoggedEvent[]): number => events.at(-1)?.seq ?? 0;

interface SecretCopy {
  metadata: { name: string; labels: object; annotations: object };
  type: string;
  data: object;
}

/** Helm's labels and annotations stay, so that the new release adopts the Secrets. */
async function copySecrets(): Promise<void> {
  const { items } = await json<{ items: SecretCopy[] }>(['get', 'secrets', ...COPIED_SECRETS]);
  const copies = items.map(({ metadata: { name, labels, annotations }, type, data }) => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, labels, annotations }, type, data },
  }));
  mkdirSync(COPY, { recursive: true });
  const list = { apiVersion: 'v1', kind: 'List', items: copies };
  writeFileSync(SECRETS_FILE, JSON.stringify(list), { mode: 0o600 });
}

/** Values that read the secrets from the copied Secret only. */
const restoredValues = (services: Record<string, object> = {}): string[] =>
  stable({ services, secrets: { values: null, existing: 'bmg-secrets' } });

/** Restores an empty namespace; the services start once their databases are complete. */
async function restore(): Promise<void> {
  const stopped = { replicas: 0, autoscaling: { enabled: false } };
  await startFromNothing();
  await inNamespace(['apply', '--filename', '-'], { input: readFileSync(SECRETS_FILE, 'utf8') });
  await installRelease(
    restoredValues(Object.fromEntries(SERVICE_NAMES.map((one) => [one, stopped]))),
  );
  await restoreDatabases(join(COPY, 'databases'));
  await upgrade(restoredValues());
}

/** Makes the receiver refuse events. Returns what waits until the first of them is accepted. */
async function refusedEvent(scene: ClusterScene, partner: StagePartner) {
  partner.receiver?.behave((response) => response.writeHead(500).end());
  await sendAndSee(partner);
  const arrived = (answered: number, id?: string) =>
    eventually(() => {
      const found = scene.arrivals.find(
        (one) =>
          one.partner === partner.name &&
          one.answered === answered &&
          one.is_signed &&
          (id === undefined || one.event_id === id),
      );
      if (!found) throw new Error(`no event ${id ?? ''} was answered ${answered}`);
      return Promise.resolve(found);
    }, EVENT_LIMIT_MS);
  const { event_id } = await arrived(500);
  return { arrives: () => arrived(200, event_id) };
}

/** A send with an `Idempotency-Key`. Returns what repeats it and expects the first answer. */
async function keyedSend({ mesh }: ClusterScene, partner: StagePartner) {
  const send = (): Promise<Asked> =>
    call(partner, 'POST', '/messages/send', { to: KEYED_CONTACT, text: 'Once' }, 'drill');
  const first = await send();
  expectStatus('a send with a key', first, 200);
  return {
    async repeat(): Promise<void> {
      const again = await send();
      expectStatus('its repeat', again, 200);
      const sent = await mesh.emulator.messages({ to: KEYED_CONTACT });
      if (again.body.message_id !== first.body.message_id || sent.length > 0) {
        throw new Error(`a send of before the copy was repeated: ${JSON.stringify(again.body)}`);
      }
    },
  };
}

/** What is there before the copy. */
async function prepare(scene: ClusterScene) {
  const partnerOf = (name: string): StagePartner =>
    scene.partners.find((one) => one.name === name) as StagePartner;
  const [steady, puller] = [partnerOf('steady'), partnerOf('puller')];
  const [leaving, broadcaster] = [partnerOf('leaving'), partnerOf('broadcaster')];
  const kept = await sendAndSee(puller);
  const waiting = await refusedEvent(scene, steady);
  const keyed = await keyedSend(scene, steady);
  const account = `/clients/${leaving.number.waba_id}`;
  expectStatus('deletion', await call(leaving, 'DELETE', account), 200);
  const events = await eventsOf(puller);
  return { steady, puller, leaving, broadcaster, kept, waiting, keyed, events };
}

type Before = Awaited<ReturnType<typeof prepare>>;

const register = async (what: string, partner: StagePartner): Promise<void> => {
  const answer = await call(partner, 'POST', '/clients/register', partner.number);
  expectStatus(what, answer, 200, 201);
};

/** What happens between the copy and the loss. */
async function goOn({ puller, leaving, broadcaster }: Before) {
  const message = await sendAndSee(puller);
  const position = lastOf(await eventsOf(puller));
  await register('registration', leaving);
  const deleted = `/clients/${broadcaster.number.waba_id}`;
  expectStatus('deletion', await call(broadcaster, 'DELETE', deleted), 200);
  const { partner_key } = await bmg<{ partner_key: string }>('partner', 'create', '--name', 'Late');
  return { message, position, partner_key };
}

type Lost = Awaited<ReturnType<typeof goOn>>;

/** Everything of before the copy is there, and nothing of after it. */
async function checkRestored(before: Before, lost: Lost): Promise<void> {
  const { puller, leaving, broadcaster } = before;
  await diagnose();
  await checkLog(puller, before.events, lost.message);
  await before.waiting.arrives();
  await before.keyed.repeat();
  const timelineOf = (id: string): Promise<Asked> =>
    call(puller, 'GET', `/messages/${id}/timeline`);
  expectStatus('a message of before', await timelineOf(before.kept), 200);
  expectStatus('a message of after', await timelineOf(lost.message), 404);
  const unknown = { key: lost.partner_key, number: puller.number };
  expectStatus('a partner of after', await call(unknown, 'GET', '/clients'), 401);
  const again = { to: CONTACT, text: 'Again' };
  expectStatus('a client of after', await call(leaving, 'POST', '/messages/send', again), 404);
  await register('its registration', leaving);
  await sendAndSee(leaving);
  const { body } = await call(broadcaster, 'GET', '/clients');
  if (!JSON.stringify(body).includes(broadcaster.number.phone_number_id)) {
    throw new Error(`a client deleted after the copy is not active again: ${JSON.stringify(body)}`);
  }
}

export async function backupAndRestore(): Promise<string> {
  await upgrade(stable());
  const scene = await openScene('backup');
  try {
    const before = await prepare(scene);
    const since_copy = stopwatch();
    const documents = await copyDatabases(join(COPY, 'databases'));
    await copySecrets();
    const copied = since_copy();
    const lost = await goOn(before);

    const lost_s = since_copy();
    await runHelm(['uninstall', 'bmg', '--wait']);
    before.steady.receiver?.behave(undefined);
    const since = stopwatch();
    await restore();
    await scene.reopen();
    const unhealthy = await untilHealthy(BASE_URL, SERVED_LIMIT_MS);
    if (unhealthy !== null) throw new Error(unhealthy);
    const healthy = since();
    const { puller } = before;
    // Before new events have taken that position.
    const read = await call(puller, 'GET', `/events?after=${lost.position}`);
    expectStatus('its position', read, 400);
    const first = { to: CONTACT, text: 'First' };
    expectStatus('the first send', await call(puller, 'POST', '/messages/send', first), 200);
    const served = since();

    await checkRestored(before, lost);
    return (
      `${documents} documents and ${COPIED_SECRETS.length} Secrets copied in ${copied} s; ` +
      `RPO: the copy was ${lost_s} s old; RTO: healthy after ${healthy} s, first send after ` +
      `${served} s; every promise of the log kept for what the copy has`
    );
  } finally {
    await scene.close();
  }
}

/**
 * Events of before the copy are at their positions, a position of before reads on, and new events
 * continue without a gap.
 */
async function checkLog(partner: StagePartner, before: LoggedEvent[], lost: string): Promise<void> {
  await sendAndSee(partner);
  const log = await eventsOf(partner);
  if (!isDeepStrictEqual(log.slice(0, before.length), before)) {
    throw new Error('the log changed an event of before the copy');
  }
  const read_on = await eventsOf(partner, lastOf(before));
  if (read_on.length === 0 || !isDeepStrictEqual(read_on, log.slice(before.length))) {
    throw new Error('a position of before the copy does not read on');
  }
  if (log.some(({ seq }, at) => seq !== at + 1)) throw new Error('the positions have a gap');
  if (JSON.stringify(log).includes(lost)) {
    throw new Error('the event log has an event of after the copy');
  }
}
