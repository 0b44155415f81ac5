// `bmg client …`: support's view of the registered numbers, and the deletion of a client's data in
// the database of every service.
import type { Command } from 'commander';
import { DataDefinition, type Purged } from '@bmg/proto/data';
import { OperatorDefinition, type Client } from '@bmg/proto/onboarding';
import { action, adder, record, type Answer, type Of } from '../action';
import { change } from '../recorded';
import {
  doesNotAnswer,
  findService,
  isUnavailable,
  SERVICES,
  type Address,
  type Session,
} from '../session';

const PAGE = 500;
/** Those that store data of clients. */
const { 'number-admin': _, ...HOLDERS } = SERVICES;
/** A service may have millions of documents of a client. Its connections last little longer. */
const PURGE_LIMIT_MS = 540_000;

export function addClientCommands(program: Command): void {
  const add = adder(
    program.command('client').description('support: list, restore or purge registered clients'),
  );

  add('list', 'list registered numbers, deleted ones included')
    .option('--partner <partner_id>', 'only this partner’s')
    .action(action(list));

  add('restore <waba_id>', 'make a deleted account active again, with all its numbers and events')
    .requiredOption('--partner <partner_id>', 'the partner that owns the account')
    .action(change(restore));

  add(
    'purge <waba_id>',
    'delete a deleted client’s data in every service; without --yes, only count it',
  )
    .requiredOption('--partner <partner_id>', 'the partner that owned the account')
    .option('--yes', 'delete the data; this cannot be undone')
    .action(change(purge, { is_change: ({ yes }) => yes === true }));
}

const operator = (session: Session) => session.client(OperatorDefinition);

async function list(session: Session, { partner }: { partner?: string }): Promise<Answer> {
  const { clients, total } = await operator(session).listAllClients({
    partner_id: partner,
    limit: PAGE,
    offset: 0,
  });
  return {
    json: { clients: clients.map(record), total },
    text: clients.map(describe).join('\n') || 'No clients.',
  };
}

async function restore(session: Session, waba_id: string, { partner }: Of): Promise<Answer> {
  const restored = await operator(session).restoreClient({ partner_id: partner, waba_id });
  const numbers = await activeNumbers(session, partner, waba_id);
  return {
    json: { ...record(restored), clients: numbers.map(record) },
    text: numbers.map(describe).join('\n'),
  };
}

async function purge(
  session: Session,
  waba_id: string,
  { partner, yes }: Of & { yes?: boolean },
): Promise<Answer> {
  const report = await purgeClient(session, { partner_id: partner, waba_id }, yes === true);
  return { json: report, text: describePurge(report) };
}

/** All active numbers of one account, page by page. */
async function activeNumbers(
  session: Session,
  partner_id: string,
  waba_id: string,
): Promise<Client[]> {
  const found: Client[] = [];
  let [offset, total] = [0, 1];
  for (; offset < total; offset += PAGE) {
    const page = await operator(session).listAllClients({ partner_id, limit: PAGE, offset });
    total = page.total;
    found.push(...page.clients);
  }
  return found.filter((one) => one.waba_id === waba_id && one.status === 'active');
}

const describe = (one: Client): string =>
  [
    one.waba_id,
    one.phone_number_id,
    one.status.padEnd(8),
    one.health.padEnd(9),
    one.phone_number,
    one.display_name,
    ...(one.partner_id ? [`(${one.partner_id})`] : []),
  ].join('  ');

interface PurgeReport {
  partner_id: string;
  waba_id: string;
  /** False when the documents were only counted. */
  purged: boolean;
  services: Record<string, Record<string, number>>;
  /** `service.collection` of the data kept because another partner has the same account. */
  kept_for_others: string[];
}

/**
 * Counts a client's documents, by service and collection; with `yes` it also deletes them.
 * Onboarding comes last: its record of the client stays until the rest is deleted, so an
 * interrupted purge is visible and can be repeated.
 */
async function purgeClient(
  session: Session,
  scope: { partner_id: string; waba_id: string },
  yes: boolean,
): Promise<PurgeReport> {
  const report: PurgeReport = { ...scope, purged: yes, services: {}, kept_for_others: [] };
  for (const [service, address] of Object.entries(HOLDERS)) {
    const data = session.client(DataDefinition, address);
    const { purged } = await data
      .purgeClient({ ...scope, dry_run: !yes }, session.call(PURGE_LIMIT_MS))
      .catch((error: unknown) => {
        throw isUnavailable(error) ? new Error(unavailable(service, address)) : error;
      });
    report.services[service] = Object.fromEntries(
      purged.map(({ collection, documents }): [string, number] => [collection, documents]),
    );
    report.kept_for_others.push(
      ...purged
        .filter((one: Purged) => one.kept_for_others)
        .map((one) => `${service}.${one.collection}`),
    );
  }
  return report;
}

const unavailable = (service: string, address: Address): string =>
  `the ${service} service ${doesNotAnswer(address)}: ${findService(address[0])}, ` +
  `then run this again. Data of other services may be deleted already`;

function describePurge({ purged, services, kept_for_others }: PurgeReport): string {
  const counts = Object.entries(services).flatMap(([service, collections]) =>
    Object.entries(collections).map(
      ([collection, documents]) => `${String(documents).padStart(8)}  ${service}.${collection}`,
    ),
  );
  return [
    purged ? 'deleted:' : 'would be deleted:',
    ...counts,
    ...(kept_for_others.length > 0
      ? [`kept, because another partner has the same account: ${kept_for_others.join(', ')}`]
      : []),
    purged
      ? [
          'Copies expire by themselves: on Kafka within 7 days (dead letters: 14 days), in Redis within',
          '180 days (IDs only). Repeat the purge once the deliveries that were in flight have ended.',
        ].join('\n')
      : 'Nothing was deleted. Add --yes to delete this data; it cannot be undone.',
  ].join('\n');
}
