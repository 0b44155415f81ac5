// `bmg endpoints list|show|shadows`: the webhook endpoints of a partner beside its webhook URL,
// with their health, and its shadows with their comparisons.
import type { Command } from 'commander';
import { addressOf, isDestinationType } from '@bmg/common/destinations';
import {
  EndpointsDefinition,
  type Endpoint,
  type EndpointAttempt,
  type Shadow,
} from '@bmg/proto/endpoints';
import { action, adder, record, type Answer, type Of } from '../action';
import { SERVICES, type Session } from '../session';

export function addEndpointCommands(program: Command): void {
  const add = adder(
    program
      .command('endpoints')
      .description('a partner’s webhook endpoints beside its webhook URL'),
    'whose',
  );
  add('list', 'list the endpoints, oldest first').action(action(list));
  add('show <endpoint_id>', 'show an endpoint with its latest attempts').action(action(show));
  add('shadows', 'list the shadow receivers of the last week, newest first').action(
    action(shadows),
  );
}

async function list(session: Session, { partner }: Of): Promise<Answer> {
  await session.requirePartner(partner);
  const { endpoints, endpoints_max } = await session
    .client(EndpointsDefinition, SERVICES.webhooks)
    .listEndpoints({ partner_id: partner });
  return {
    json: { endpoints: endpoints.map(shown), endpoints_max },
    text: endpoints.map(describe).join('\n') || 'No endpoints beside the webhook URL.',
  };
}

async function show(session: Session, endpoint_id: string, { partner }: Of): Promise<Answer> {
  await session.requirePartner(partner);
  const webhooks = session.client(EndpointsDefinition, SERVICES.webhooks);
  const of = { partner_id: partner, endpoint_id };
  const endpoint = await webhooks.getEndpoint(of);
  const { attempts } = await webhooks.listEndpointAttempts(of);
  return {
    json: { ...shown(endpoint), attempts: attempts.map(record) },
    text: [describe(endpoint), ...attempts.map(describeAttempt)].join('\n'),
  };
}

async function shadows(session: Session, { partner }: Of): Promise<Answer> {
  await session.requirePartner(partner);
  const found = await session
    .client(EndpointsDefinition, SERVICES.webhooks)
    .listShadows({ partner_id: partner });
  return {
    json: { shadows: found.shadows.map(shownShadow) },
    text: found.shadows.map(describeShadow).join('\n') || 'No shadows in the last week.',
  };
}

const shownShadow = ({ comparison, ...shadow }: Shadow): Record<string, unknown> => {
  const { differences: _differences, ...counts } = comparison ?? {};
  return {
    ...record({ endpoint_id: undefined, ended_at: undefined }),
    ...record(shadow),
    comparison: counts,
  };
};

const describeShadow = ({ comparison, ...shadow }: Shadow): string =>
  [
    shadow.shadow_id,
    shadow.status,
    shadow.url,
    `of ${shadow.endpoint_id ?? 'the webhook URL'}`,
    shadow.source,
    `${comparison?.compared ?? 0} compared, ${comparison?.different ?? 0} different, ${comparison?.dropped ?? 0} dropped`,
    ...(comparison?.answers ?? []).map(
      ({ first, shadow: of_shadow, events }) => `${first}/${of_shadow} ${events}`,
    ),
    `ends ${shadow.ends_at?.toISOString()}`,
  ].join('  ');

/**
 * GET /v1/webhook-endpoints shows the same fields; an address may have a token of the partner in
 * its query.
 */
const shown = ({ destination, health, ...endpoint }: Endpoint): Record<string, unknown> => ({
  ...record(endpoint),
  url: endpoint.url === '' ? null : withoutQuery(endpoint.url),
  destination: destination ? { type: destination.type, ...destination.settings } : null,
  health: record(health ?? {}),
});

const describe = ({ destination, health, ...endpoint }: Endpoint): string =>
  [
    endpoint.endpoint_id,
    endpoint.status,
    destination && isDestinationType(destination.type)
      ? addressOf(destination.type, destination.settings ?? {})
      : withoutQuery(endpoint.url),
    endpoint.events.length > 0 ? endpoint.events.join(',') : 'all events',
    `${health?.delivered ?? 0} delivered, ${health?.refused ?? 0} refused in 24 hours`,
    `${health?.retrying ?? 0} waiting, ${health?.failed ?? 0} failed`,
    ...(health?.failing_since
      ? [`failing since ${health.failing_since.toISOString()}: ${health.last_error ?? 'refused'}`]
      : []),
    endpoint.description,
  ]
    .filter(Boolean)
    .join('  ');

const describeAttempt = (attempt: EndpointAttempt): string =>
  [
    attempt.at?.toISOString(),
    attempt.event_id,
    attempt.event,
    `attempt ${attempt.number}`,
    attempt.delivered ? 'delivered' : (attempt.error ?? 'refused'),
    `${attempt.duration_ms} ms`,
  ].join('  ');

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
