// The checks of `bmg doctor`: whether the gateway and onboarding answer, whether all databases have
// the declared indexes, and onboarding's own checks of settings, engines, topics and the upstream.
import { OperatorDefinition } from '@bmg/proto/onboarding';
import { findService, readLogs } from './advice';
import { describeDifference, eachDatabase } from './databases';
import { doesNotAnswer, SERVICES, settingOf, type Session } from './session';

export type Status = 'ok' | 'warning' | 'failed';

export interface Check extends Finding {
  /** A warning comes with advice, and `ok` is true: nothing has failed. */
  status: Status;
}

interface Finding {
  name: string;
  ok: boolean;
  detail: string;
  advice: string;
}

const HEALTH_LIMIT_MS = 3_000;
const INDEXES_LIMIT_MS = 5_000;

export async function doctor(session: Session): Promise<{ ok: boolean; checks: Check[] }> {
  const findings = [await gateway()];
  try {
    const found = await session.client(OperatorDefinition).diagnose({}, session.call());
    findings.push(...found.checks);
  } catch {
    findings.push({
      name: 'onboarding',
      ok: false,
      detail: doesNotAnswer(SERVICES.onboarding),
      advice: findService('ONBOARDING_ADDR'),
    });
  }
  findings.push(await indexes(session));
  const checks = findings.map((one): Check => ({ ...one, status: statusOf(one) }));
  return { ok: checks.every(({ ok }) => ok), checks };
}

const statusOf = ({ ok, advice }: Finding): Status =>
  ok ? (advice === '' ? 'ok' : 'warning') : 'failed';

export interface Health {
  /** `ok`, `degraded`, or `unreachable`. */
  status: string;
  /** The state of each by its name: `ok` or `down`. */
  dependencies: Record<string, string>;
}

/** The gateway's own report; never rejects. */
export async function readHealth(): Promise<Health> {
  try {
    const answer = await fetch(`${gatewayUrl()}/v1/health`, {
      signal: AbortSignal.timeout(HEALTH_LIMIT_MS),
    });
    const { status = 'unreachable', dependencies = {} } = (await answer.json()) as {
      status?: string;
      dependencies?: Record<string, { status: string }>;
    };
    const states = Object.entries(dependencies).map(([name, one]) => [name, one.status]);
    return { status, dependencies: Object.fromEntries(states) as Record<string, string> };
  } catch {
    return { status: 'unreachable', dependencies: {} };
  }
}

const gatewayUrl = (): string => settingOf('PUBLIC_URL', 'http://127.0.0.1:8080');

async function gateway(): Promise<Finding> {
  const { status, dependencies } = await readHealth();
  const base = gatewayUrl();
  const ok = status === 'ok';
  const down = Object.keys(dependencies).filter((name) => dependencies[name] !== 'ok');
  const detail =
    status === 'unreachable'
      ? `does not answer at ${base}`
      : down.length > 0
        ? `${status}: ${down.join(', ')} down`
        : `${status} at ${base}`;
  return { name: 'gateway', ok, detail, advice: ok ? '' : readLogs() };
}

/** Obsolete indexes are a warning: they cost writes, and earlier releases may use them. */
async function indexes(session: Session): Promise<Finding> {
  const replies = await eachDatabase(session, (rpc) =>
    rpc.compareIndexes({}, session.call(INDEXES_LIMIT_MS)),
  );
  const found = replies.flatMap((one) =>
    'answer' in one
      ? one.answer.differences.map((difference) => ({ ...difference, service: one.service }))
      : [],
  );
  const silent = replies.flatMap((one) => ('answer' in one ? [] : [one]));
  const lines = [
    ...silent.map(({ service, problem }) => `${service} ${problem}`),
    ...found.map((one) => `${one.service}.${describeDifference(one)}`),
  ];
  const ok = silent.length === 0 && found.every(isObsolete);
  const detail = lines.join('; ') || 'all indexes are as declared';
  const advice = ok
    ? 'drop them once all processes run this release: npx bmg indexes apply --drop-obsolete'
    : (silent[0]?.advice ?? 'npx bmg indexes show, then npx bmg indexes apply');
  return { name: 'indexes', ok, detail, advice: lines.length === 0 ? '' : advice };
}

const isObsolete = ({ state }: { state: string }): boolean => state === 'obsolete';
