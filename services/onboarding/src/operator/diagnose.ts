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

interface Finding {
  ok: boolean;
  detail: string;
  advice: string;
}

export interface Check extends Finding {
  name: string;
}

const CHECK_LIMIT_MS = 5_000;
/** The audit log makes a link a minute at most, so these are ten minutes' worth. */
const UNSENT_LINKS_FINE = 10;
/** Prefix of the contract's neutral feature names; the platform does not know them. */
const NEUTRAL_FEATURE = /^messaging_/;
const CHECK_UPSTREAM = 'check UPSTREAM_URL and the network';

const finding =
  (ok: boolean) =>
  (detail: string, advice = ''): Finding => ({ ok, detail, advice });
const good = finding(true);
const bad = finding(false);

/** The checks by name, each with the advice if it fails. */
const CHECKS: Record<string, [check: (deps: Dependencies) => Promise<Finding>, advice?: string]> = {
  mongo: [
    ({ database }) => answers(() => database.db.command({ ping: 1 })),
    'check MONGO_URL and the database server',
  ],
  redis: [
    ({ redis }) => answers(() => redis.ping()),
    'check REDIS_URL; until Redis answers, each process limits and caches on its own',
  ],
  kafka: [topics, 'check KAFKA_BROKERS and the brokers'],
  keyring: [keyring, 'check ENCRYPTION_KEYRING and the database'],
  pepper: [pepper, 'check KEY_PEPPER and the database'],
  'audit log': [auditLog, 'check the database'],
  upstream: [upstream, CHECK_UPSTREAM],
  subscriptions: [subscriptions, CHECK_UPSTREAM],
  'webhook fields': [webhookFields, CHECK_UPSTREAM],
  'sign-up': [signUp],
  settings: [settings],
};

export const diagnose = (deps: Dependencies): Promise<Check[]> =>
  Promise.all(
    Object.entries(CHECKS).map(async ([name, [check, advice]]) => ({
      name,
      ...(await guarded(() => check(deps), advice)),
    })),
  );

async function answers(ask: () => Promise<unknown>, more = ''): Promise<Finding> {
  const started = performance.now();
  await ask();
  return good(`answers in ${Math.round(performance.now() - started)} ms${more}`);
}

/** Turns a check that fails or times out into a finding. */
async function guarded(check: () => Promise<Finding>, advice = ''): Promise<Finding> {
  const answered = new AbortController();
  const limit = pause(CHECK_LIMIT_MS, answered.signal).then(() =>
    bad(`no answer within ${CHECK_LIMIT_MS} ms`, advice),
  );
  const checked = check().catch((error: unknown) =>
    bad(error instanceof Error ? error.message : String(error), advice),
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

async function topics({ bus }: Dependencies): Promise<Finding> {
  let missing: string[] = [];
  const answered = await answers(
    async () => (missing = await bus.missingTopics()),
    ', all topics exist',
  );
  if (missing.length === 0) return answered;
  return bad(`missing topics: ${missing.join(', ')}`, 'restart a service: it creates them');
}

async function auditLog(deps: Dependencies): Promise<Finding> {
  const { records, links, faults, newest, unsent } = await checkChain(deps, Infinity);
  const [fault] = faults;
  if (fault) {
    const of = fault.record_id === undefined ? `link ${fault.link}` : fault.record_id;
    return bad(
      `${of}: ${fault.problem} (${faults.length} faults)`,
      'list them: npx bmg audit check',
    );
  }
  const detail = `${records} records in the newest ${links} links are as they were stored`;
  const head = newest ? `; link ${newest.number} is ${newest.hash}` : '';
  return good(
    `${detail}${head}`,
    unsent < UNSENT_LINKS_FINE
      ? ''
      : `${unsent} links wait for AUDIT_EXPORT_URL: check that it answers with 2xx`,
  );
}

async function subscriptions(deps: Dependencies): Promise<Finding> {
  const { asked, findings } = await traced('subscriptions', (call) =>
    findSubscriptions(deps, call),
  );
  if (findings.length === 0) return good(`accounts checked: ${asked}, all send us webhooks`);
  return bad(
    `no events arrive from ${findings.join(', ')}`,
    'subscribe each again: POST /v1/clients/{waba_id}/resubscribe-webhook; a refused token needs a new sign-up',
  );
}

async function webhookFields(deps: Dependencies): Promise<Finding> {
  if (!deps.settings.UPSTREAM_APP_ID) return good('not checked: UPSTREAM_APP_ID is not set');
  const read = (call: Call) => readAppSubscription(deps, call);
  const { callback_url, missing } = await traced('webhook fields', read);
  if (callback_url !== undefined && missing.length === 0) {
    return good(`the app is subscribed to all, at ${callback_url}`);
  }
  const detail = `the app is not subscribed to ${missing.join(', ')}`;
  return bad(detail, 'subscribe it: npx bmg upstream subscribe');
}

async function keyring({ vault, sealedRecords }: Dependencies): Promise<Finding> {
  const stale = await sealedRecords.countStale(vault.key_id);
  if (stale === 0) return good(`every record is wrapped with the newest key, ${vault.key_id}`);
  return good(
    `${stale} records are wrapped with an older key than ${vault.key_id}`,
    'the key ring must be rotated before the older key is removed',
  );
}

async function pepper({ partners, partnerKeys, peppers, now }: Dependencies): Promise<Finding> {
  const { newest_id } = peppers;
  const newest = newest_id === '' ? 'the pepper without an ID' : `the newest pepper, ${newest_id}`;
  const found = await Promise.all([
    partners.keysOfOtherPeppers(newest_id, now()),
    partnerKeys.ofOtherPeppers(newest_id, now()),
  ]);
  const count = found.reduce((sum, one) => sum + one.count, 0);
  const partner_ids = [...new Set(found.flatMap((one) => one.partner_ids))];
  if (count === 0) return good(`every partner key is hashed with ${newest}`);
  const named = partner_ids.join(', ') + (count > partner_ids.length ? ', …' : '');
  return good(
    `${count} partner keys are not yet hashed with ${newest}: of ${named}`,
    'keep the older pepper in KEY_PEPPER until their next calls, or rotate their keys',
  );
}

/** The app inspects its own token, which shows whether the platform responds and knows the app. */
async function upstream({ upstream, settings }: Dependencies): Promise<Finding> {
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
    return good(`${settings.UPSTREAM_URL} answers`);
  } catch (error) {
    if (!(error instanceof ApiError) || error.upstream_code === undefined) throw error;
    if (app_id === '') return good(`${settings.UPSTREAM_URL} answers`);
    return bad(
      `answers, but refuses the app’s credentials (code ${error.upstream_code})`,
      'check UPSTREAM_APP_ID and UPSTREAM_APP_SECRET',
    );
  }
}

async function signUp({ settings }: Dependencies): Promise<Finding> {
  const names = ['UPSTREAM_APP_ID', 'UPSTREAM_APP_SECRET', 'UPSTREAM_CONFIG_ID'] as const;
  const missing = names.filter((name) => !settings[name]);
  if (missing.length > 0) {
    return bad(`not configured: ${missing.join(', ')}`, `set ${missing.join(', ')}`);
  }
  if (!isLocal(settings.UPSTREAM_URL) && NEUTRAL_FEATURE.test(settings.UPSTREAM_FEATURE_TYPE)) {
    return bad(
      `UPSTREAM_FEATURE_TYPE is ${settings.UPSTREAM_FEATURE_TYPE}, a name the platform does not know`,
      'set UPSTREAM_FEATURE_TYPE to the platform’s own spelling',
    );
  }
  return good('configured');
}

async function settings({ settings, warnings }: Dependencies): Promise<Finding> {
  const found = [
    ...warnings,
    ...(settings.ALLOW_PRIVATE_URLS
      ? ['ALLOW_PRIVATE_URLS is on: partners may give private addresses']
      : []),
  ];
  return found.length === 0
    ? good('no values for local work')
    : good(found.join('; '), 'fine for local work; change them for production');
}

const isLocal = (url: string): boolean =>
  ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
