// `bmg client …`: support's view of the registered numbers, and the deletion of a client's data.
import type { Command } from 'commander';
import { OperatorDefinition, type Client } from '@bmg/proto/onboarding';
import { action, record, type Answer } from '../action';
import { change } from '../recorded';
import { describePurge, purgeClient } from '../purge';
import type { Session } from '../session';

const PAGE = 500;

export function addClientCommands(program: Command): void {
  const client = program
    .command('client')
    .description('support: list, restore or purge registered clients');

  client
    .command('list')
    .description('list registered numbers, deleted ones included')
    .option('--partner <partner_id>', 'only this partner’s')
    .action(action(program, list));

  client
    .command('restore <waba_id>')
    .description('make a deleted account active again, with all its numbers and events')
    .requiredOption('--partner <partner_id>', 'the partner that owns the account')
    .action(change(program, restore));

  client
    .command('purge <waba_id>')
    .description('delete a deleted client’s data in every service; without --yes, only count it')
    .requiredOption('--partner <partner_id>', 'the partner that owned the account')
    .option('--yes', 'delete the data; this cannot be undone')
    .action(change(program, purge, { is_change: ({ yes }) => yes === true }));
}

const operator = (session: Session) => session.client(OperatorDefinition);

async function list(session: Session, { partner }: { partner?: string }): Promise<Answer> {
  const { clients, total } = await operator(session).listAllClients(
    { partner_id: partner, limit: PAGE, offset: 0 },
    session.call(),
  );
  return {
    json: { clients: clients.map(record), total },
    text: clients.map(describe).join('\n') || 'No clients.',
  };
}

async function restore(
  session: Session,
  waba_id: string,
  { partner }: { partner: string },
): Promise<Answer> {
  const restored = await operator(session).restoreClient(
    { partner_id: partner, waba_id },
    session.call(),
  );
  const numbers = await activeNumbers(session, partner, waba_id);
  return {
    json: { ...record(restored), clients: numbers.map(record) },
    text: numbers.map(describe).join('\n'),
  };
}

async function purge(
  session: Session,
  waba_id: string,
  { partner, yes }: { partner: string; yes?: boolean },
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
    const page = await operator(session).listAllClients(
      { partner_id, limit: PAGE, offset },
      session.call(),
    );
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
