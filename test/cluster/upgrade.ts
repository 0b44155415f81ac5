// Planned changes under traffic: an upgrade with changed settings and back, and new certificates.
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICE_NAMES } from '@bmg/local';
import { eventually } from '../testkit/eventually';
import {
  CHART,
  NAMESPACE,
  TRIAL,
  componentOf,
  inNamespace,
  json,
  podsOf,
  runHelm,
  untilRolledOut,
  valuesFile,
} from './release';
import { stopwatch, words } from './run';
import { underTraffic, type Options } from './traffic';

const UPGRADE_LIMIT = '15m';
const ENDED_LIMIT_MS = 120_000;
/** Less than the 21 days at which the job renews a certificate. */
const SHORT_LIFE_DAYS = 10;
/** Pods of gateway and webhooks, to which the callers connect. */
export const FRONT_PODS = 4;
const JOB_LIMIT_MS = 200_000;
const MOUNT_MS = 120_000;

/**
 * The trial with two replicas of each service, however busy this machine is: the other checks count
 * pods. LOG_LEVEL shows what a failed check needs. `services` replaces the values of whole
 * services, `changed` any others.
 */
export const stable = ({
  services: own = {},
  ...changed
}: Record<string, unknown> & { services?: Record<string, object> } = {}): string[] => {
  // All pods fit on one node while the other is drained.
  const resources = { requests: { cpu: '25m' } };
  const services = Object.fromEntries(
    SERVICE_NAMES.map((name) => [
      name,
      { replicas: 2, autoscaling: { enabled: false }, resources },
    ]),
  );
  // The upstream must not wait for the processors of this machine while pods start.
  const emulator = { resources: { requests: { cpu: '500m', memory: '128Mi' } } };
  const settings = { LOG_LEVEL: 'info' };
  const all = { services: { ...services, ...own }, settings, emulator, ...changed };
  const file = valuesFile('stable', all);
  return ['--values', TRIAL, '--values', file];
};

/**
 * Also waits until the replaced pods have ended: the emulator's would take what is meant for the
 * new one.
 */
export async function upgrade(values: string[]): Promise<void> {
  await runHelm(words`upgrade bmg ${CHART} ${values} --wait --timeout ${UPGRADE_LIMIT}`);
  await untilEnded();
}

const untilEnded = (): Promise<boolean> =>
  eventually(
    async () => (await podsOf()).every(({ metadata }) => !metadata.deletionTimestamp),
    ENDED_LIMIT_MS,
  );

/** Pods of the earlier list that no longer exist. */
const replaced = async (before: Set<string>): Promise<number> => {
  const now = new Set((await podsOf()).map(({ metadata }) => metadata.name));
  return [...before].filter((name) => !now.has(name)).length;
};

/** The pods of the services; the engines, the emulator and the command line are not replaced. */
const names = async (): Promise<Set<string>> =>
  new Set(
    (await podsOf())
      .filter((pod) => (SERVICE_NAMES as readonly string[]).includes(componentOf(pod)))
      .map(({ metadata }) => metadata.name),
  );

export async function upgradeAndBack({ seed }: Options): Promise<string> {
  await upgrade(stable());
  const times: string[] = [];
  const figures = await underTraffic({
    name: 'upgrade',
    seed,
    cut_off_max: 2 * FRONT_PODS,
    async disturb() {
      for (const [kind, act] of [
        ['upgrade', () => upgrade(stable({ podAnnotations: { 'bmg.test/upgrade': 'changed' } }))],
        ['rollback', () => runHelm(words`rollback bmg --wait --timeout ${UPGRADE_LIMIT}`)],
      ] as const) {
        const before = await names();
        const since = stopwatch();
        await act();
        await untilRolledOut();
        await untilEnded();
        const count = await replaced(before);
        if (count < before.size)
          throw new Error(`${kind}: ${before.size - count} pods were not replaced`);
        times.push(`${kind} of ${count} pods in ${since()} s`);
      }
    },
  });
  return `${times.join(', ')}; ${figures}`;
}

interface Secret {
  metadata: { name: string };
  data: Record<string, string>;
}

const certificates = async (): Promise<Map<string, string>> =>
  new Map(
    (await json<{ items: Secret[] }>(['get', 'secrets'])).items
      .filter(({ metadata }) => metadata.name.endsWith('-tls'))
      .map(({ metadata, data }) => [metadata.name, data['tls.crt'] ?? '']),
  );

/** What the job's account must be able to do, and must not. */
const RIGHTS: ReadonlyArray<[string, 'yes' | 'no']> = [
  ['get secrets/bmg-mtls-ca', 'yes'],
  ['patch secrets/bmg-gateway-tls', 'yes'],
  ['patch secrets/bmg-mtls-ca', 'no'],
  ['delete secrets/bmg-gateway-tls', 'no'],
  ['get secrets/bmg-secrets', 'no'],
  ['list secrets', 'no'],
  ['create secrets', 'no'],
];

async function checkRights(): Promise<void> {
  const account = `--as=system:serviceaccount:${NAMESPACE}:bmg-tls-renewal`;
  for (const [what, wanted] of RIGHTS) {
    // The command ends with 1 on a `no`.
    const answer = await inNamespace(['auth', 'can-i', ...what.split(' '), account]).catch(
      () => 'no',
    );
    if (answer.trim() !== wanted) throw new Error(`may the job ${what}: ${answer.trim()}`);
  }
}

/** Runs the renewal as it runs when the certificates are old: the new ones have the usual life. */
async function renew(): Promise<void> {
  await inNamespace(words`delete job renew-now --ignore-not-found`);
  const create = words`create job --from=cronjob/bmg-tls-renewal renew-now --dry-run=client`;
  const job = await inNamespace([...create, '--output', 'json']);
  await inNamespace(['apply', '--filename', '-'], {
    input: job.replace(/--valid-days=\d+/, '--valid-days=90'),
  });
  await inNamespace(words`wait job/renew-now --for=condition=Complete --timeout=180s`, {
    limit_ms: JOB_LIMIT_MS,
  });
}

export async function renewCertificates({ seed }: Options): Promise<string> {
  // The chart refuses so short a life; it makes certificates that are as good as old.
  await upgrade([...stable({ mtls: { validDays: SHORT_LIFE_DAYS } }), '--skip-schema-validation']);
  await checkRights();
  let renewed = 0;
  const figures = await underTraffic({
    name: 'certificates',
    seed: seed + 1,
    cut_off_max: 0,
    async disturb() {
      const before = await certificates();
      await renew();
      const after = await certificates();
      renewed = [...before].filter(([name, text]) => after.get(name) !== text).length;
      if (renewed !== before.size || renewed === 0) {
        throw new Error(`${renewed} of ${before.size} certificates were renewed`);
      }
      // The kubelet refreshes mounted Secrets within two minutes.
      await sleep(MOUNT_MS);
    },
  });
  return `${renewed} certificates; ${figures}`;
}
