// `bmg ledger …`: the months of the ledger and their closing.
import type { Command } from 'commander';
import { LedgerDefinition, type ListMonthsResponse } from '@bmg/proto/ledger';
import { action, record, type Answer } from '../action';
import { change } from '../recorded';
import { SERVICES, type Session } from '../session';

const CLOSING = `
A closed month keeps its rate card and its figures. Statuses that come later make late entries in
the current month. Months before it that are still open are closed with it.
Without this command, a month is closed LEDGER_CLOSE_DAYS after its end.`;

export function addLedgerCommands(program: Command): void {
  const ledger = program.command('ledger').description('what messages cost: closed months');

  ledger
    .command('close <month>')
    .description('close a month that has ended, for example 2026-09')
    .requiredOption('--yes', 'confirm that it stays closed')
    .addHelpText('after', CLOSING)
    .action(change(program, close));

  ledger.command('months').description('list closed months').action(action(program, months));
}

const client = (session: Session) => session.client(LedgerDefinition, SERVICES.messaging);

const close = async (session: Session, month: string): Promise<Answer> =>
  answer(await client(session).closeMonth({ month }, session.call()));

const months = async (session: Session): Promise<Answer> =>
  answer(await client(session).listMonths({}, session.call()));

const answer = (listed: ListMonthsResponse): Answer => ({
  json: record(listed),
  text:
    listed.months.length === 0
      ? 'No month is closed.'
      : listed.months.map(({ month, status }) => `${month} ${status}`).join('\n'),
});
