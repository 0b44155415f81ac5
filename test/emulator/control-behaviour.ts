// Control requests for the platform's behaviour: faults, webhooks, limits.
import { BATCH_MAX, type Behaviour, type FailRule } from './behaviour';
import {
  bad,
  flag,
  number,
  object,
  onlyKeys,
  text,
  theNumber,
  within,
  type ControlCall,
  type ControlRoute,
} from './control-parts';
import { EFFECTS, showFault, type FaultInput } from './faults';
import type { WindowCheck } from './limits';
import { isObject } from './operations/parameters';
import type { JsonObject } from './types';
import { words } from '../testkit/words';

const DELAY_MAX_MS = 600_000;

export const controlBehaviourRoutes: readonly ControlRoute[] = [
  { method: 'POST', path: 'faults', status: 201, handler: addFault },
  { method: 'GET', path: 'faults', handler: ({ core }) => ({ faults: core.faults.list() }) },
  { method: 'DELETE', path: 'faults', handler: clearFaults },
  { method: 'POST', path: 'webhook-behaviour', handler: changeBehaviour },
  { method: 'GET', path: 'webhook-behaviour', handler: showBehaviour },
  { method: 'POST', path: 'limits', handler: changeLimits },
  { method: 'GET', path: 'limits', handler: ({ core }) => core.limits.describe() },
];

// --- faults ---

function addFault({ core, body }: ControlCall): JsonObject {
  onlyKeys(body, ['match', 'times', 'probability', 'seed', ...EFFECTS]);
  const match = object(body, 'match');
  if (match)
    onlyKeys(match, ['method', 'path', 'phone_number_id', 'body_contains', 'query_contains']);
  const error = object(body, 'error');
  if (error && typeof error['code'] !== 'number') throw bad('error.code must be a number');
  const delay = number(body, 'delay_ms');
  if (delay !== undefined && (delay < 0 || delay > DELAY_MAX_MS)) {
    throw bad(`delay_ms must be from 0 to ${DELAY_MAX_MS}`);
  }
  const drop = text(body, 'drop');
  if (drop !== undefined && drop !== 'before' && drop !== 'after') {
    throw bad('drop must be before or after');
  }
  number(body, 'times');
  number(body, 'probability');
  const fault = core.faults.add(body as FaultInput);
  if (typeof fault === 'string') throw bad(fault);
  return showFault(fault);
}

function clearFaults({ core, query }: ControlCall): JsonObject {
  const id = query.get('id');
  core.faults.clear(id === null ? undefined : Number(id));
  return { faults: core.faults.list() };
}

// --- behaviour ---

const BEHAVIOUR_KEYS = words(`
  statuses delays_ms duplicate reorder hold swallow fail_status seed batch_max retry_delays_ms
  timeout_ms conversation service_billable lifecycle_delay_ms template_review sync
`);
const DUPLICATES_MAX = 100;
const RETRIES_MAX = 50;

function changeBehaviour(call: ControlCall): JsonObject {
  const { core, body } = call;
  onlyKeys(body, BEHAVIOUR_KEYS);
  checkBehaviour(body);
  const change = { ...body } as Partial<Behaviour>;
  if (body['fail_status'] !== undefined) change.fail_status = failRules(body['fail_status']);
  core.behaviour.change(change);
  if (body['hold'] === false) core.webhooks.release();
  return showBehaviour(call);
}

function checkBehaviour(body: JsonObject): void {
  for (const name of ['reorder', 'hold', 'service_billable']) flag(body, name);
  for (const name of ['statuses', 'delays_ms', 'template_review', 'sync']) object(body, name);
  number(body, 'seed');
  number(body, 'lifecycle_delay_ms');
  const duplicate = number(body, 'duplicate') ?? 0;
  if (duplicate < 0 || duplicate > DUPLICATES_MAX)
    throw bad(`duplicate must be from 0 to ${DUPLICATES_MAX}`);
  const swallow = number(body, 'swallow') ?? 0;
  if (swallow < 0 || swallow > 1) throw bad('swallow must be from 0 to 1');
  within(number(body, 'batch_max') ?? 1, 'batch_max', BATCH_MAX);
  within(number(body, 'timeout_ms') ?? 1, 'timeout_ms', DELAY_MAX_MS);
  const delays = body['retry_delays_ms'] ?? [];
  if (!Array.isArray(delays) || delays.length > RETRIES_MAX || !delays.every(isWait)) {
    throw bad(
      `retry_delays_ms must be an array of at most ${RETRIES_MAX} numbers from 0 to ${DELAY_MAX_MS}`,
    );
  }
  const conversation = text(body, 'conversation') ?? 'always';
  if (!['always', 'free_entry_point_only', 'never'].includes(conversation)) {
    throw bad('conversation must be always, free_entry_point_only or never');
  }
  for (const value of Object.values(object(body, 'delays_ms') ?? {})) {
    if (!isWait(value))
      throw bad(`each value of delays_ms must be a number from 0 to ${DELAY_MAX_MS}`);
  }
}

function isWait(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= DELAY_MAX_MS;
}

/** One rule or a list; null or an empty list removes all rules. */
function failRules(value: unknown): FailRule[] {
  if (value === null) return [];
  const rules = (Array.isArray(value) ? value : [value]) as unknown[];
  return rules.map((rule) => {
    if (!isObject(rule) || typeof rule['code'] !== 'number') {
      throw bad('fail_status must be an object with a numeric code');
    }
    onlyKeys(rule, ['to', 'code', 'details', 'after_sent', 'probability', 'times']);
    return { ...rule } as unknown as FailRule;
  });
}

function showBehaviour({ core }: ControlCall): JsonObject {
  return { ...core.behaviour.current };
}

// --- limits ---

function changeLimits(call: ControlCall): JsonObject {
  const { core, body } = call;
  onlyKeys(body, [
    'phone_number_id',
    'rate_per_sec',
    'pair_limit',
    'window_check',
    'media_url_ttl_ms',
    'max_code_requests',
  ]);
  const { settings } = core.limits;
  if (body['rate_per_sec'] !== undefined) {
    const rate = rateOf(body['rate_per_sec']);
    const id = text(body, 'phone_number_id');
    if (id === undefined) settings.rate_per_sec = rate;
    else theNumber(call, id).rate_per_sec = rate;
  }
  if (body['pair_limit'] !== undefined) changePairLimit(call, body['pair_limit']);
  if (body['window_check'] !== undefined) settings.window_check = windowOf(body['window_check']);
  settings.media_url_ttl_ms = number(body, 'media_url_ttl_ms') ?? settings.media_url_ttl_ms;
  settings.max_code_requests = number(body, 'max_code_requests') ?? settings.max_code_requests;
  return core.limits.describe();
}

function rateOf(value: unknown): number | null {
  if (value === 'default' || value === null) return null;
  if (value === 'off' || value === false) return 0;
  if (typeof value === 'number' && value >= 0) return value;
  throw bad('rate_per_sec must be a number, "default" or "off"');
}

function changePairLimit({ core }: ControlCall, value: unknown): void {
  const { pair } = core.limits.settings;
  if (typeof value === 'boolean') {
    pair.enabled = value;
    return;
  }
  if (!isObject(value)) throw bad('pair_limit must be a boolean or {interval_ms, burst}');
  pair.enabled = true;
  pair.interval_ms = number(value, 'interval_ms') ?? pair.interval_ms;
  pair.burst = number(value, 'burst') ?? pair.burst;
}

function windowOf(value: unknown): WindowCheck {
  if (value === true) return 'refuse';
  if (value === false) return 'off';
  if (value === 'off' || value === 'refuse' || value === 'fail_later') return value;
  throw bad('window_check must be off, refuse or fail_later');
}
