// Backup and restore, as the runbook describes them: a copy while the mesh works, the loss of all
// data of all engines, and the restore into stopped services.
import { ask, type Asked } from '../chaos/ask';
import type { StagePartner } from '../chaos/stage';
import { eventually } from '../testkit/eventually';
import { copyDatabases, documentsIn, restoreDatabases } from './database-copy';
import { docker } from './docker';
import { NODES, VOLUME_FOLDER } from './facts';
import { rolledOut } from './kubectl';
import { bmg, ENGINES, inNamespace, NAMESPACE, untilRolledOut } from './release';
import { GATEWAY, openScene } from './scene';
import { SERVICES, stable, upgrade } from './upgrade';

const ENGINE_NAMES = Object.keys(ENGINES);
const CONTACT = '15550100777';
const EVENT_LIMIT_MS = 60_000;
const SERVED_LIMIT_MS = 180_000;
const GONE = '180s';
const GONE_LIMIT_MS = 200_000;
const ENGINE_LIMIT_S = 180;
const BASE_URL = `${GATEWAY}/v1`;

const call = async (
  { key, number }: Pick<StagePartner, 'key' | 'number'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Asked> => {
  const headers = { 'x-waba-id': number.waba_id };
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

const scale = async (kind: string, names: readonly string[], replicas: number): Promise<void> => {
  for (const name of names) {
    await inNamespace(['scale', `${kind}/bmg-${name}`, `--replicas=${replicas}`]);
  }
};

const gone = async (names: readonly string[]): Promise<void> => {
  const selector = `app.kubernetes.io/component in (${names.join(',')})`;
  const path = ['wait', '--for=delete', 'pod', '--selector', selector, `--timeout=${GONE}`];
  await inNamespace(path, { limit_ms: GONE_LIMIT_MS });
};

const seconds = (began: number): number => Math.round((performance.now() - began) / 1_000);

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

export async function backupAndRestore(): Promise<string> {
  await upgrade(stable());
  const scene = await openScene('backup');
  try {
    const [puller, leaving, broadcaster] = ['puller', 'leaving', 'broadcaster'].map((name) =>
      scene.partners.find((one) => one.name === name),
    ) as [StagePartner, StagePartner, StagePartner];
    const kept = await sendAndSee(puller);
    const account = `/clients/${leaving.number.waba_id}`;
    expectStatus('deletion', await call(leaving, 'DELETE', account), 200);

    let began = performance.now();
    const copy = await copyDatabases();
    const copied = seconds(began);

    // What happens between the copy and the loss.
    const lost = await sendAndSee(puller);
    expectStatus(
      'registration',
      await call(leaving, 'POST', '/clients/register', leaving.number),
      200,
      201,
    );
    const deleted = `/clients/${broadcaster.number.waba_id}`;
    expectStatus('deletion', await call(broadcaster, 'DELETE', deleted), 200);
    const late = await bmg<{ partner_key: string }>('partner', 'create', '--name', 'Late');

    await scale('deployment', SERVICES, 0);
    await scale('statefulset', ENGINE_NAMES, 0);
    await gone([...SERVICES, ...ENGINE_NAMES]);
    const [node] = NODES as [(typeof NODES)[number]];
    await docker(['exec', node.name, 'sh', '-c', `rm -rf ${VOLUME_FOLDER}/*/*`]);
    await scale('statefulset', ENGINE_NAMES, 1);
    for (const engine of ENGINE_NAMES) {
      await rolledOut(NAMESPACE, `statefulset/bmg-${engine}`, ENGINE_LIMIT_S);
    }
    began = performance.now();
    await restoreDatabases(copy);
    const restored = seconds(began);
    began = performance.now();
    await scale('deployment', SERVICES, 2);
    await untilRolledOut();
    await eventually(async () => {
      const { body } = await call(puller, 'GET', '/health');
      if (body.status !== 'ok') throw new Error(JSON.stringify(body));
      return true;
    }, SERVED_LIMIT_MS);
    const served = seconds(began);

    // The runbook's rows, one by one.
    await diagnose();
    expectStatus(
      'a message of before',
      await call(puller, 'GET', `/messages/${kept}/timeline`),
      200,
    );
    expectStatus(
      'a message of after',
      await call(puller, 'GET', `/messages/${lost}/timeline`),
      404,
    );
    const log = JSON.stringify((await call(puller, 'GET', '/events?limit=1000')).body);
    if (!log.includes(kept)) throw new Error('the event log lost an event of before the copy');
    if (log.includes(lost)) throw new Error('the event log has an event of after the copy');
    const unknown = { key: late.partner_key, number: puller.number };
    expectStatus('a partner of after', await call(unknown, 'GET', '/clients'), 401);
    const again = { to: CONTACT, text: 'Again' };
    expectStatus('a client of after', await call(leaving, 'POST', '/messages/send', again), 404);
    expectStatus(
      'its registration',
      await call(leaving, 'POST', '/clients/register', leaving.number),
      200,
      201,
    );
    await sendAndSee(leaving);
    const { body } = await call(broadcaster, 'GET', '/clients');
    if (!JSON.stringify(body).includes(broadcaster.number.phone_number_id)) {
      throw new Error(
        `a client deleted after the copy is not active again: ${JSON.stringify(body)}`,
      );
    }
    await sendAndSee(puller);
    return (
      `${documentsIn(copy)} documents copied in ${copied} s, restored in ${restored} s, serving ${served} s later; ` +
      'lost: what came after the copy, as the runbook says'
    );
  } finally {
    await scene.close();
  }
}
