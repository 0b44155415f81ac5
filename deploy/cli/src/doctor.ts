// The checks of `bmg doctor`: whether the gateway and onboarding answer, and onboarding's own
// checks of settings, engines, topics, indexes and the upstream.
import { OperatorDefinition } from '@bmg/proto/onboarding';
import { settingOf, type Session } from './session';
import { findService, readLogs } from './advice';

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

export async function doctor(session: Session): Promise<{ ok: boolean; checks: Check[] }> {
  const findings = [await gateway()];
  try {
    const found = await session.client(OperatorDefinition).diagnose({}, session.call());
    findings.push(...found.checks);
  } catch {
    const address = settingOf('ONBOARDING_ADDR', '127.0.0.1:50051');
    findings.push({
      name: 'onboarding',
      ok: false,
      detail: `does not answer at ${address}`,
      advice: findService('ONBOARDING_ADDR'),
    });
  }
  const checks = findings.map((one): Check => ({ ...one, status: statusOf(one) }));
  return { ok: checks.every(({ ok }) => ok), checks };
}

const statusOf = ({ ok, advice }: Finding): Status =>
  ok ? (advice === '' ? 'ok' : 'warning') : 'failed';

async function gateway(): Promise<Finding> {
  const base = settingOf('PUBLIC_URL', 'http://127.0.0.1:8080');
  const advice = readLogs();
  try {
    const answer = await fetch(`${base}/v1/health`, {
      signal: AbortSignal.timeout(HEALTH_LIMIT_MS),
    });
    const body = (await answer.json()) as {
      status?: string;
      dependencies?: Record<string, { status?: string }>;
    };
    const down = Object.entries(body.dependencies ?? {})
      .filter(([, { status }]) => status !== 'ok')
      .map(([name]) => name);
    const ok = body.status === 'ok';
    return {
      name: 'gateway',
      ok,
      detail:
        down.length > 0 ? `${body.status}: ${down.join(', ')} down` : `${body.status} at ${base}`,
      advice: ok ? '' : advice,
    };
  } catch {
    return { name: 'gateway', ok: false, detail: `does not answer at ${base}`, advice };
  }
}
