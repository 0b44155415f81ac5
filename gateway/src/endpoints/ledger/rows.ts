import { LedgerDefinition } from '@bmg/proto/ledger';
import * as docs from './docs';
import * as schemas from './schemas';
import { get, rpc, type Endpoint } from '../endpoint';

/** A CSV of 100,000 rows, to a slow reader. */
const LEDGER_TIMEOUT_MS = 120_000;

export const ledger: Endpoint[] = [
  get('/usage/ledger', rpc(LedgerDefinition, 'getLedger'), {
    scope: 'filter',
    key_scope: 'billing',
    reads: 'log',
    addition: true,
    query: schemas.getLedger,
    csv: rpc(LedgerDefinition, 'exportLedger'),
    timeout_ms: LEDGER_TIMEOUT_MS,
    reply: ({ fields }) => fields ?? {},
    docs: docs.getLedger,
    summary: 'Read what your messages cost',
  }),
];
