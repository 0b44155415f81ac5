// Commands for the activity of one partner: `bmg events failed|retry`, `bmg broadcasts`, `bmg
// usage`, `bmg onboarding`.
import type { Command } from 'commander';
import { BroadcastsDefinition, type Broadcast } from '@bmg/proto/broadcasts';
import { OnboardingDefinition, type OnboardingEvent } from '@bmg/proto/onboarding';
import { WebhooksDefinition, type FailedEvent } from '@bmg/proto/webhooks';
import { Option } from 'commander';
import { action, adder, count, record, wholeNumber, type Answer, type Of } from '../action';
import { change } from '../recorded';
import { SERVICES, type Session } from '../session';

const PAGE_MAX = 100;

type PageOptions = Of & { limit: number };

export function addActivityCommands(program: Command): void {
  const events = adder(
    program.command('events').description('the events that a partner’s receiver did not accept'),
    'whose',
  );
  events('failed', 'list failed and retrying events, oldest first')
    .addOption(new Option('--status <status>', 'only these').choices(['failed', 'retrying']))
    .addOption(limit())
    .option('--cursor <cursor>', 'the next page: the cursor that the last one printed')
    .action(action(failed));
  events(
    'retry [event_id]',
    'deliver one event again now; without an ID, queue all of them',
  ).action(change(retry));

  const add = adder(program, 'whose');
  add('broadcasts', 'list a partner’s broadcasts, newest first')
    .addOption(limit())
    .action(action(broadcasts));
  add('usage', 'show a partner’s calls, messages and billing of this month').action(action(usage));
  add('onboarding', 'list the steps of a partner’s recent sign-ups, newest first')
    .addOption(limit())
    .action(action(onboarding));
}

const limit = (): Option =>
  new Option('--limit <n>', `how many, at most ${PAGE_MAX}`).argParser(wholeNumber).default(20);

async function failed(
  session: Session,
  { partner, limit, status, cursor }: PageOptions & { status?: string; cursor?: string },
): Promise<Answer> {
  await session.requirePartner(partner);
  const { events, total, after } = await session
    .client(WebhooksDefinition, SERVICES.webhooks)
    .listFailedEvents({ partner_id: partner, limit, status, cursor });
  const lines = [...events.map(describeEvent), `${events.length} of ${total} events`];
  if (after !== undefined) lines.push(`next page: --cursor ${after}`);
  // The content of events is between the partner and its customers.
  const shown = events.map(({ payload: _payload, ...event }) => record(event));
  return { json: { events: shown, total, after: after ?? null }, text: lines.join('\n') };
}

async function retry(
  session: Session,
  event_id: string | undefined,
  { partner: partner_id }: Of,
): Promise<Answer> {
  await session.requirePartner(partner_id);
  const webhooks = session.client(WebhooksDefinition, SERVICES.webhooks);
  if (event_id === undefined) {
    const { queued } = await webhooks.retryAllEvents({ partner_id });
    return { json: { queued }, text: `${count(queued, 'event')} queued` };
  }
  const done = await webhooks.retryEvent({ partner_id, event_id });
  const answered = done.http_status === undefined ? 'no answer' : `HTTP ${done.http_status}`;
  return { json: record(done), text: `${done.status} (${answered})` };
}

async function broadcasts(session: Session, { partner, limit }: PageOptions): Promise<Answer> {
  await session.requirePartner(partner);
  const found = await session.client(BroadcastsDefinition, SERVICES.broadcasts).listBroadcasts({
    partner_id: partner,
    waba_id: undefined,
    limit: Math.min(limit, PAGE_MAX),
    offset: 0,
  });
  return {
    json: { broadcasts: found.broadcasts.map(record), total: found.total },
    text: found.broadcasts.map(describeBroadcast).join('\n') || 'No broadcasts.',
  };
}

async function usage(session: Session, { partner }: Of): Promise<Answer> {
  await session.requirePartner(partner);
  const now = new Date();
  const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
  const found = await session
    .client(OnboardingDefinition)
    .getUsage({ partner_id: partner, from, to: now });
  const { endpoints, messages, billing } = found;
  return {
    json: record(found),
    text: [
      `since      ${from.toISOString()}`,
      `billing    ${count(billing?.slots ?? 0, 'slot')}, at most ${count(billing?.peak_active_wabas ?? 0, 'account')}, USD ${billing?.fee_usd ?? 0}`,
      ...messages.map(
        (one) =>
          `messages   ${one.category}: ${one.sent} sent, ${one.delivered} delivered, ${one.read} read, ${one.failed} failed; ${one.billable} billable, ${one.free} free`,
      ),
      ...endpoints.map(
        ({ endpoint, calls, errors }) =>
          `calls      ${endpoint}: ${calls}, ${count(errors, 'error')}`,
      ),
    ].join('\n'),
  };
}

async function onboarding(session: Session, { partner, limit }: PageOptions): Promise<Answer> {
  await session.requirePartner(partner);
  const { events } = await session
    .client(OnboardingDefinition)
    .listOnboardingEvents({ partner_id: partner, limit: Math.min(limit, PAGE_MAX) });
  return {
    json: { events: events.map(record) },
    text: events.map(describeStep).join('\n') || 'No sign-ups.',
  };
}

const describeEvent = (one: FailedEvent): string =>
  [
    one.event_id,
    one.created_at?.toISOString(),
    one.status.padEnd(8),
    one.event,
    count(one.attempts, 'attempt'),
    one.last_error ?? '',
  ].join('  ');

/**
 * The status of a paused broadcast stays `processing`. A cancelled one keeps the time of its pause.
 */
const isPaused = ({ status, paused_at }: Broadcast): boolean =>
  status === 'processing' && paused_at !== undefined;

const describeBroadcast = (one: Broadcast): string =>
  [
    one.id,
    one.created_at?.toISOString(),
    (isPaused(one) ? 'paused' : one.status).padEnd(10),
    `${one.sent} sent, ${one.delivered} delivered, ${one.failed} failed of ${one.total}`,
    one.name,
  ].join('  ');

const describeStep = (one: OnboardingEvent): string =>
  [
    one.created_at?.toISOString(),
    one.current_step,
    one.waba_id ?? '',
    one.error_code ? `${one.error_code}: ${one.error_message ?? ''}` : '',
  ].join('  ');
