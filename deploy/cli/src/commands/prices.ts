// `bmg rates …` and `bmg ledger …`: what messages cost. The rate card that prices checks, and the
// months of the ledger and their closing.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { ApiError } from '@bmg/common/errors';
import { LedgerDefinition, type ListMonthsResponse } from '@bmg/proto/ledger';
import {
  RatesDefinition,
  type ListPricesResponse,
  type RateCardSummary,
} from '@bmg/proto/messaging';
import { action, adder, count, record, type Answer } from '../action';
import { change } from '../recorded';
import { SERVICES, type Session } from '../session';

const COLUMNS = `
The file is CSV with the columns currency, market, category, tier, valid_from and price:
  currency    a code of three letters, the same in every line
  market      as the upstream spells it: Germany, North America, Rest of Africa, Other …
  category    marketing, utility, authentication, authentication_international or service
  tier        messages of the month, 0:100000 or 100001: for the highest; empty for all
  valid_from  the first day, 2026-10-01; earlier days keep their prices in the same file
  price       of one message, a decimal such as 0.0456
Lines that start with # are comments.

A file with a wrong line, an overlap or a gap is refused whole.`;

const CLOSING = `
A closed month keeps its rate card and its figures. Statuses that come later make late entries in
the current month. Months before it that are still open are closed with it.
Without this command, a month is closed LEDGER_CLOSE_DAYS after its end.`;

export function addPriceCommands(program: Command): void {
  const rates = adder(program.command('rates').description('what messages cost: the rate card'));

  rates('load <csv>', 'replace the rate card with a CSV file')
    .addHelpText('after', COLUMNS)
    .option('--if-none', 'keep a card that is already loaded')
    .action(change(load));

  rates('show', 'show which rate card is loaded, or the prices of a country, category or day')
    .option('--country <name>', 'two letters, an English name, or a market')
    .option('--category <name>', 'marketing, utility, authentication or service')
    .option('--date <day>', 'the day whose prices apply, such as 2026-10-01; today by default')
    .action(action(show));

  const ledger = adder(program.command('ledger').description('what messages cost: closed months'));

  ledger('close <month>', 'close a month that has ended, for example 2026-09')
    .requiredOption('--yes', 'confirm that it stays closed')
    .addHelpText('after', CLOSING)
    .action(change(close));

  ledger('months', 'list closed months').action(action(months));
}

const ratesOf = (session: Session) => session.client(RatesDefinition, SERVICES.messaging);
const ledgerOf = (session: Session) => session.client(LedgerDefinition, SERVICES.messaging);

async function load(
  session: Session,
  path: string,
  { if_none }: { if_none?: boolean },
): Promise<Answer> {
  if (if_none) {
    const card = await ratesOf(session).getRates({});
    if (card.currency !== undefined) {
      return { json: record(card), text: `Kept. ${describe(card)}` };
    }
  }
  const csv = readFileSync(path, 'utf8');
  const loaded = await ratesOf(session)
    .loadRates({ csv })
    .catch((error: unknown) => {
      throw withLines(error, path);
    });
  return { json: record(loaded), text: `Loaded. ${describe(loaded)}` };
}

interface Wanted {
  country?: string;
  category?: string;
  date?: string;
}

async function show(session: Session, wanted: Wanted): Promise<Answer> {
  if (Object.keys(wanted).length > 0) return showPrices(session, wanted);
  const card = await ratesOf(session).getRates({});
  const text = card.currency === undefined ? 'No rate card is loaded.' : describe(card);
  return { json: record(card), text };
}

async function showPrices(session: Session, { date: day, ...wanted }: Wanted): Promise<Answer> {
  const found = await ratesOf(session).listPrices({ ...wanted, day });
  return { json: record(found), text: describePrices(found) };
}

const describePrices = ({ day, currency, prices, reason }: ListPricesResponse): string =>
  prices.length === 0
    ? `No prices on ${day}: ${reason}.`
    : [
        `On ${day}, in ${currency}:`,
        ...prices.map(({ market, category, tier, price, valid_from, billable_in_window }) =>
          [
            `  ${market}, ${category}: ${price}`,
            ...(tier === '0:' ? [] : [`for messages ${tier} of a month`]),
            `since ${valid_from}`,
            ...(billable_in_window ? [] : ['free in an open window']),
          ].join(', '),
        ),
      ].join('\n');

const describe = ({ currency, rates, markets, valid_from }: RateCardSummary): string =>
  `${count(rates, 'rate')} in ${currency} for ${count(markets, 'market')}, valid from ${valid_from.join(', ')}`;

/** One line of text for each wrong line of the file. */
function withLines(error: unknown, path: string): unknown {
  const { lines } = ((error instanceof ApiError && error.details) || {}) as {
    lines?: Array<{ line: number; problem: string }>;
  };
  if (!lines) return error;
  const list = lines.map(({ line, problem }) => `${path}:${line}: ${problem}`);
  return new Error([(error as Error).message, ...list].join('\n'));
}

const close = async (session: Session, month: string): Promise<Answer> =>
  monthsOf(await ledgerOf(session).closeMonth({ month }));

const months = async (session: Session): Promise<Answer> =>
  monthsOf(await ledgerOf(session).listMonths({}));

const monthsOf = (listed: ListMonthsResponse): Answer => ({
  json: record(listed),
  text:
    listed.months.length === 0
      ? 'No month is closed.'
      : listed.months.map(({ month, status }) => `${month} ${status}`).join('\n'),
});
