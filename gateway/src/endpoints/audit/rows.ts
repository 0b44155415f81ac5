// The audit log. It is written by the chain of every row that changes something: see audit/.
import { AuditDefinition, type AuditRecord } from '@bmg/proto/audit';
import * as docs from './docs';
import * as schemas from './schemas';
import { get, rpc, type Endpoint, type Fields } from '../endpoint';

/** A record with all values of a key before and after a change. */
const RECORD_BYTES = 4 * 1024;
const LIMIT_DEFAULT = 50;
/** A CSV of 100,000 records, to a slow reader. */
const EXPORT_TIMEOUT_MS = 120_000;

const shown = (record: AuditRecord): Fields => ({
  id: record.id,
  at: record.at,
  actor: {
    type: record.actor?.type,
    id: record.actor?.id ?? null,
    name: record.actor?.name ?? null,
  },
  action: record.action,
  target: record.target,
  fields: record.fields,
  before: record.before ?? null,
  after: record.after ?? null,
  outcome: record.outcome,
  code: record.code ?? null,
  request_id: record.request_id,
  address: record.address ?? null,
  ended_at: record.ended_at ?? null,
  count: record.count ?? 1,
});

/**
 * The schema has checked its form. A plus sign sent without URL encoding has arrived as a space.
 */
const timeOf = (text: string | undefined): Date | undefined =>
  text === undefined ? undefined : new Date(text.replace(' ', '+').toUpperCase());

export const audit: Endpoint[] = [
  get('/audit', rpc(AuditDefinition, 'listAuditRecords'), {
    scope: 'filter',
    key_scope: 'manage',
    reads: 'log',
    addition: true,
    query: schemas.listAudit,
    answer_bytes: ({ limit = LIMIT_DEFAULT }) => limit * RECORD_BYTES,
    csv: rpc(AuditDefinition, 'exportAuditRecords'),
    timeout_ms: EXPORT_TIMEOUT_MS,
    request: ({ query, partner_id, waba_id }) => ({
      ...query,
      partner_id,
      waba_id,
      from: timeOf(query.from),
      to: timeOf(query.to),
    }),
    reply: ({ records, after }, { query }) => ({
      records: records.map(shown),
      limit: query.limit,
      paging: { cursors: { after: after ?? null } },
    }),
    docs: docs.listAudit,
    summary: 'List who changed what, newest first',
  }),
];
