import { LedgerDefinition } from '@bmg/proto/ledger';
import { RatesDefinition } from '@bmg/proto/messaging';
import * as docs from './docs';
import * as schemas from './schemas';
import { get, rpc, type Endpoint } from '../endpoint';

/** A CSV of 100,000 rows, to a slow reader. */
const LEDGER_TIMEOUT_MS = 120_000;

/**
 * An entry, and the totals and category changes of the first page, which grow with the partner's
 * numbers.
 */
const ENTRY_BYTES = 1_536;
const TOTALS_BYTES = 1024 * 1024;
const LIMIT_DEFAULT = 100;

/** A price of each market, category and tier. */
const PRICES_BYTES = 256 * 1024;

export const ledger: Endpoint[] = [
  get('/usage/ledger', rpc(LedgerDefinition, 'getLedger'), {
    scope: 'filter',
    key_scope: 'billing',
    reads: 'log',
    addition: true,
    query: schemas.getLedger,
    answer_bytes: ({ limit = LIMIT_DEFAULT, after }) =>
      limit * ENTRY_BYTES + (after === undefined ? TOTALS_BYTES : 0),
    csv: rpc(LedgerDefinition, 'exportLedger'),
    timeout_ms: LEDGER_TIMEOUT_MS,
    reply: ({ fields }) => fields ?? {},
    docs: docs.getLedger,
    summary: 'Read what your messages cost',
  }),
  get('/prices', rpc(RatesDefinition, 'listPrices'), {
    scope: 'partner',
    reads: 'list',
    addition: true,
    query: schemas.listPrices,
    answer_bytes: () => PRICES_BYTES,
    request: ({ query: { date, ...query } }) => ({ ...query, day: date }),
    reply: ({ day, currency, prices, reason }) => ({
      date: day,
      currency: currency ?? null,
      prices,
      reason: reason ?? null,
    }),
    docs: docs.listPrices,
    summary: 'Look up the price of a message by country, category and date',
  }),
];
