// The checks behind `bmg doctor`: whether the service's engines answer, whether its settings fit
// production, and what to do if they do not. Every check has a time limit and none changes
// anything.
import { ApiError } from '@bmg/common/errors';
import { pause } from '@bmg/common/lifecycle';
import { ownCall, type Call } from '@bmg/common/rpc';
import { checkChain } from '../accounts/audit';
import { endSpan, startSpan } from '@bmg/common/telemetry';
import { appToken } from '../connect/upstream';
import { findSubscriptions, readAppSubscription } from './app-subscription';
import type { Dependencies } from '../dependencies';

export interface Check {
  name: string;
  ok: boolean;
  detail: string;
  advice: string;
}

const CHECK_LIMIT_MS = 5_000;
/** The audit log makes a link a minute at most, so these are ten minutes' worth. */
const UNSENT_LINKS_FINE = 10;
/** Prefix of the contract's neutral feature names; the platform does not know them. */
const NEUTRAL_FEATURE = /^messaging_/;

const finding =
  (ok: boolean) =>
  (name: string, detail: string, advice = ''): Check => ({ name, ok, detail, advice });
const good = finding(true);
const bad = finding(false);

export const diagnose = (deps: Dependencies): Promise<Check[]> =>
  Promise.all([
    answers(
      'mongo',
      () => deps.database.db.command({ ping: 1 }),
      'check MONGO_URL and the database server',
    ),
    answers(
      'redis',
      () => deps.redis.ping(),
      'check REDIS_URL; until Redis answers, each process limits and caches on its own',
    ),
    guarded('kafka', () => topics(deps), 'check KAFKA_BROKERS and the brokers'),
    guarded('keyring', () => keyring(deps), 'check ENCRYPTION_KEYRING and the database'),
    guarded('pepper', () => pepper(deps), 'check KEY_PEPPER and the database'),
    guarded('audit log', () => auditLog(deps), 'check the database'),
    guarded('upstream', () => upstream(deps), 'check UPSTREAM_URL and the network'),
    guarded('subscriptions', () => subscriptions(deps), 'check UPSTREAM_URL and the network'),
    guarded('webhook fields', () => webhookFields(deps), 'check UPSTREAM_URL and the network'),
    Promise.resolve(signUp(deps)),
    Promise.resolve(settings(deps)),
  ]);

const answers = (name: string, ask: () => Promise<unknown>, advice: string): Promise<Check> =>
  guarded(
    name,
    async () => {
      const started = performance.now();
      await ask();
      return good(name, `answers in ${Math.round(performance.now() - started)} ms`);
    },
    advice,
  );

/** Turns a check that fails or times out into a finding. */
async function guarded(name: string, check: () => Promise<Check>, advice: string): Promise<Check> {
  const answered = new AbortController();
  const limit = pause(CHECK_LIMIT_MS, answered.signal).then(() =>
    bad(name, `no answer within ${CHECK_LIMIT_MS} ms`, advice),
  );
  const checked = check().catch((error: unknown) =>
    bad(name, error instanceof Error ? error.message : String(error), advice),
  );
  return Promise.race([checked, limit]).finally(() => answered.abort());
}

/** Calls the upstream within the check's time, in a span of its own. */
async function traced<T>(name: string, work: (call: Call) => Promise<T>): Promise<T> {
  const span = startSpan(`diagnose ${name}`);
  try {
    return await work(ownCall(span.spanContext(), CHECK_LIMIT_MS));
  } finally {
    endSpan(span);
  }
}

async function topics({ bus }: Dependencies): Promise<Check> {
  const started = performance.now();
  const missing = await bus.missingTopics();
  return missing.length === 0
    ? good('kafka', `answers in ${Math.round(performance.now() - started)} ms, all topics exist`)
    : bad('kafka', `missing topics: ${missing.join(', ')}`, 'restart a service: it creates them');
}

async function auditLog(deps: Dependencies): Promise<Check> {
  const name = 'audit log';
  const { records, links, faults, newest, unsent } = await checkChain(deps, Infinity);
  const [fault] = faults;
  if (fault) {
    const of = fault.record_id === undefined ? `link ${fault.link}` : fault.record_id;
    return bad(
      name,
      `${of}: ${fault.problem} (${faults.length} faults)`,
      'list them: npx bmg audit check',
    );
  }
  const detail = `${records} records in the newest ${links} links are as they were stored`;
  const head = newest ? `; link ${newest.number} is ${newest.hash}` : '';
  return good(
    name,
    `${detail}${head}`,
    unsent < UNSENT_LINKS_FINE
      ? ''
      : `${unsent} links wait for AUDIT_EXPORT_URL: check that it answers with 2xx`,
  );
}

async function subscriptions(deps: Dependencies): Promise<Check> {
  const name = 'subscriptions';
  const { asked, findings } = await traced(name, (call) => findSubscriptions(deps, call));
  if (findings.length === 0) return good(name, `accounts checked: ${asked}, all send us webhooks`);
  return bad(
    name,
    `no events arrive from ${findings.join(', ')}`,
    'subscribe each again: POST /v1/clients/{waba_id}/resubscribe-webhook; a refused token needs a new sign-up',
  );
}

async function webhookFields(deps: Dependencies): Promise<Check> {
  const name = 'webhook fields';
  if (!deps.settings.UPSTREAM_APP_ID) return good(name, 'not checked: UPSTREAM_APP_ID is not set');
  const { callback_url, missing } = await traced(name, (call) => readAppSubscription(deps, call));
  if (callback_url !== undefined && missing.length === 0) {
    return good(name, `the app is subscribed to all, at ${callback_url}`);
  }
  const detail = `the app is not subscribed to ${missing.join(', ')}`;
  return bad(name, detail, 'subscribe it: npx bmg upstream subscribe');
}

async function keyring({ vault, sealedRecords }: Dependencies): Promise<Check> {
  const stale = await sealedRecords.countStale(vault.key_id);
  return stale === 0
    ? good('keyring', `every record is wrapped with the newest key, ${vault.key_id}`)
    : good(
        'keyring',
        `${stale} records are wrapped with an older key than ${vault.key_id}`,
        'the key ring must be rotated before the older key is removed',
      );
}

async function pepper({ partners, partnerKeys, peppers, now }: Dependencies): Promise<Check> {
  const { newest_id } = peppers;
  const newest = newest_id === '' ? 'the pepper without an ID' : `the newest pepper, ${newest_id}`;
  const found = await Promise.all([
    partners.keysOfOtherPeppers(newest_id, now()),
    partnerKeys.ofOtherPeppers(newest_id, now()),
  ]);
  const count = found.reduce((sum, one) => sum + one.count, 0);
  const partner_ids = [...new Set(found.flatMap((one) => one.partner_ids))];
  if (count === 0) return good('pepper', `every partner key is hashed with ${newest}`);
  const named = partner_ids.join(', ') + (count > partner_ids.length ? ', …' : '');
  return good(
    'pepper',
    `${count} partner keys are not yet hashed with ${newest}: of ${named}`,
    'keep the older pepper in KEY_PEPPER until their next calls, or rotate their keys',
  );
}

/** The app inspects its own token, which shows whether the platform responds and knows the app. */
async function upstream({ upstream, settings }: Dependencies): Promise<Check> {
  const { UPSTREAM_APP_ID: app_id = '', UPSTREAM_APP_SECRET: app_secret = '' } = settings;
  const token = appToken({ app_id, app_secret });
  const read = {
    operation: 'GET /debug_token',
    method: 'GET' as const,
    path: '/debug_token',
    query: { input_token: token },
    token,
    secrets: [token, app_secret],
  };
  try {
    await traced('upstream', (call) => upstream.request(read, call));
    return good('upstream', `${settings.UPSTREAM_URL} answers`);
  } catch (error) {
    if (!(error instanceof ApiError) || error.upstream_code === undefined) throw error;
    if (app_id === '') return good('upstream', `${settings.UPSTREAM_URL} answers`);
    return bad(
      'upstream',
      `answers, but refuses the app’s credentials (code ${error.upstream_code})`,
      'check UPSTREAM_APP_ID and UPSTREAM_APP_SECRET',
    );
  }
}

function signUp({ settings }: Dependencies): Check {
  const names = ['UPSTREAM_APP_ID', 'UPSTREAM_APP_SECRET', 'UPSTREAM_CONFIG_ID'] as const;
  const missing = names.filter((name) => !settings[name]);
  if (missing.length > 0) {
    return bad('sign-up', `not configured: ${missing.join(', ')}`, `set ${missing.join(', ')}`);
  }
  if (!isLocal(settings.UPSTREAM_URL) && NEUTRAL_FEATURE.test(settings.UPSTREAM_FEATURE_TYPE)) {
    return bad(
      'sign-up',
      `UPSTREAM_FEATURE_TYPE is ${settings.UPSTREAM_FEATURE_TYPE}, a name the platform does not know`,
      'set UPSTREAM_FEATURE_TYPE to the platform’s own spelling',
    );
  }
  return good('sign-up', 'configured');
}

function settings({ settings, warnings }: Dependencies): Check {
  const found = [
    ...warnings,
    ...(settings.ALLOW_PRIVATE_URLS
      ? ['ALLOW_PRIVATE_URLS is on: partners may give private addresses']
      : []),
  ];
  return found.length === 0
    ? good('settings', 'no values for local work')
    : good('settings', found.join('; '), 'fine for local work; change them for production');
}

const isLocal = (url: string): boolean =>
  ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
