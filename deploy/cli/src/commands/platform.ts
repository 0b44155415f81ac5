// The commands that concern the whole platform: `bmg rotate-keyring`, `bmg doctor` and `bmg
// upstream`, our app there. The doctor checks whether the gateway and onboarding answer and whether
// all databases have the declared indexes. It also runs onboarding's own checks of settings,
// engines, topics and the upstream.
import type { Command } from 'commander';
import { OperatorDefinition, type SubscribeAppResponse } from '@bmg/proto/onboarding';
import { action, count, record, type Answer, EXIT_FAILURE } from '../action';
import { change } from '../recorded';
import {
  doesNotAnswer,
  findService,
  readLogs,
  SERVICES,
  settingOf,
  UsageError,
  type Session,
} from '../session';
import { describeDifference, eachDatabase } from './indexes';

const NOTES = `
The upstream sends only the webhook fields to which the app is subscribed. No field is ever dropped,
and the address of the webhooks changes only with --callback. The upstream verifies it with
UPSTREAM_VERIFY_TOKEN, which comes from the environment, else from .run/env in this folder.`;

export function addPlatformCommands(program: Command): void {
  program
    .command('rotate-keyring')
    .description('re-wrap every sealed record with the newest key of ENCRYPTION_KEYRING')
    .addHelpText(
      'after',
      '\nThe services keep running meanwhile. Remove an old key only after this has reported no' +
        '\nunreadable records.',
    )
    .action(change(rotateKeyring));

  program
    .command('doctor')
    .description('check settings, engines, topics, indexes and the upstream, and print what to fix')
    .action(action(diagnose));

  program
    .command('upstream')
    .description('our app at the upstream')
    .command('subscribe')
    .description('subscribe the app to all webhook fields that the gateway handles')
    .addHelpText('after', NOTES)
    .option('--check', 'only show what is missing; exit code 1 if anything is')
    .option('--callback <url>', 'the address of the webhooks from now on')
    .action(change(subscribe, { is_change: ({ check }) => check !== true }));
}

async function rotateKeyring(session: Session): Promise<Answer> {
  const operator = session.client(OperatorDefinition);
  let [rewrapped, unreadable] = [0, 0];
  let after: string | undefined;
  do {
    const page = await operator.rotateKeyring({ after, limit: 0 });
    rewrapped += page.rewrapped;
    unreadable += page.unreadable;
    after = page.next;
  } while (after !== undefined);
  const advice =
    unreadable === 0
      ? 'You can now remove the older keys from ENCRYPTION_KEYRING.'
      : `Not changed: ${count(unreadable, 'record')} that no key in ENCRYPTION_KEYRING opens.`;
  return {
    json: { rewrapped, unreadable },
    text: `${count(rewrapped, 'record')} re-wrapped with the newest key.\n${advice}`,
  };
}

async function diagnose(session: Session): Promise<Answer> {
  const { checks, ok } = await doctor(session);
  if (!ok) process.exitCode = EXIT_FAILURE;
  const warnings = checks.filter(({ status }) => status === 'warning').length;
  return { json: { ok, warnings, checks }, text: checks.map(describeCheck).join('\n') };
}

const VERDICTS: Record<Status, string> = { ok: 'ok  ', warning: 'warn', failed: 'FAIL' };

function describeCheck({ status, name, detail, advice }: Check): string {
  return `${VERDICTS[status]}  ${name}: ${detail}${advice && `\n      → ${advice}`}`;
}

type Status = 'ok' | 'warning' | 'failed';

interface Check extends Finding {
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

async function doctor(session: Session): Promise<{ ok: boolean; checks: Check[] }> {
  const findings = [await gateway()];
  try {
    const found = await session.client(OperatorDefinition).diagnose({});
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

/**
 * The gateway's own report: `ok`, `degraded` or `unreachable`, and `ok` or `down` for each of its
 * dependencies. Never rejects.
 */
export async function readHealth() {
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

interface SubscribeOptions {
  check?: boolean;
  callback?: string;
}

async function subscribe(session: Session, { check, callback }: SubscribeOptions): Promise<Answer> {
  const verify_token = settingOf('UPSTREAM_VERIFY_TOKEN', '');
  if (!check && verify_token === '') throw new UsageError('set UPSTREAM_VERIFY_TOKEN');
  const request = { check_only: check === true, callback_url: callback, verify_token };
  const found = await session.client(OperatorDefinition).subscribeApp(request);
  const is_missing = found.missing.length > 0 || found.callback_url === undefined;
  if (check && is_missing) process.exitCode = EXIT_FAILURE;
  return { json: record(found), text: describeSubscription(found) };
}

function describeSubscription({
  callback_url,
  missing,
  others,
  changed,
}: SubscribeAppResponse): string {
  const at = callback_url === undefined ? 'no address' : callback_url;
  const fields = missing.join(', ');
  const what = changed
    ? `Subscribed to ${missing.length === 0 ? 'all fields' : fields}, at ${at}.`
    : missing.length === 0
      ? `Nothing is missing: all fields go to ${at}.`
      : `Missing ${count(missing.length, 'field')} of ${at}: ${fields}`;
  return others.length === 0 ? what : `${what}\nKept: ${others.join(', ')}`;
}
