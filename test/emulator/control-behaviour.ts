// Control requests for the platform's behaviour: faults, webhooks, limits.
import type { Behaviour } from './behaviour';
import {
  bad,
  flag,
  listOf,
  number,
  oneOf,
  route,
  shape,
  text,
  type ControlCall,
  type Input,
} from './control-parts';
import { FAULT, showFault } from './faults';
import type { JsonObject } from './types';

const DELAY_MS = number(0, 600_000);
const FAIL_RULE = shape({ to: text, code: number() });

export const BEHAVIOUR = {
  statuses: shape({ sent: flag, delivered: flag, read: flag }),
  delays_ms: shape({ sent: DELAY_MS, delivered: DELAY_MS, read: DELAY_MS, failed: DELAY_MS }),
  duplicate: number(0, 100),
  reorder: flag,
  hold: flag,
  swallow: number(0, 1),
  /** Null removes the rules. */
  fail_status: (value: unknown, name: string) =>
    value === null ? [] : listOf(FAIL_RULE)(Array.isArray(value) ? value : [value], name),
  seed: number(),
  retry_delays_ms: listOf(DELAY_MS),
  service_billable: flag,
  lifecycle_delay_ms: DELAY_MS,
  template_review: shape({ outcome: oneOf('approve', 'reject', 'none'), delay_ms: DELAY_MS }),
  sync: shape({
    ...{ contacts: number(0), messages_per_phase: number(0) },
    ...{ decline_history: flag, media_followup: flag },
  }),
};

export const LIMITS = {
  rate_per_sec: (value: unknown, name: string): number | 'default' | 'off' =>
    value === 'default' || value === 'off' ? value : number(0)(value, name),
  window_check: oneOf('off', 'refuse', 'fail_later'),
};

export const controlBehaviourRoutes = [
  route('POST faults', FAULT, addFault, 201),
  route('GET faults', {}, ({ core }) => ({ faults: core.faults.list() })),
  route('DELETE faults', {}, clearFaults),
  route('POST webhook-behaviour', BEHAVIOUR, changeBehaviour),
  route('GET webhook-behaviour', {}, ({ core }) => ({ ...core.behaviour.current })),
  route('GET limits', {}, ({ core }) => ({ ...core.limits.settings })),
  route('POST limits', LIMITS, changeLimits),
];

function addFault({ core }: ControlCall, input: Input<typeof FAULT>): JsonObject {
  const fault = core.faults.add(input);
  if (typeof fault === 'string') throw bad(fault);
  return showFault(fault);
}

function clearFaults({ core, query }: ControlCall): JsonObject {
  const id = query.get('id');
  core.faults.clear(id === null ? undefined : Number(id));
  return { faults: core.faults.list() };
}

function changeBehaviour({ core }: ControlCall, input: Input<typeof BEHAVIOUR>): JsonObject {
  core.behaviour.change(input as Partial<Behaviour>);
  if (input.hold === false) core.webhooks.release();
  return { ...core.behaviour.current };
}

function changeLimits({ core }: ControlCall, input: Input<typeof LIMITS>): JsonObject {
  const { settings } = core.limits;
  const { rate_per_sec = settings.rate_per_sec, window_check = settings.window_check } = input;
  if (rate_per_sec === 'default') settings.rate_per_sec = null;
  else settings.rate_per_sec = rate_per_sec === 'off' ? 0 : rate_per_sec;
  settings.window_check = window_check;
  return { ...settings };
}
