// A stored record as the RPCs and the operator's destination have it.
import type { Actor, AuditRecord } from '@bmg/proto/audit';
import type { AuditEntry } from './store';

export const recordMessage = (entry: AuditEntry): AuditRecord => ({
  id: entry._id,
  at: entry.at,
  actor: actorMessage(entry.actor),
  action: entry.action,
  target: entry.target,
  fields: entry.fields,
  before: entry.before ?? undefined,
  after: entry.after ?? undefined,
  outcome: entry.outcome,
  code: entry.code ?? undefined,
  request_id: entry.request_id,
  address: entry.address ?? undefined,
  ended_at: entry.ended_at ?? undefined,
  partner_id: entry.partner_id ?? undefined,
  count: entry.count,
});

const actorMessage = ({ type, id, name }: AuditEntry['actor']): Actor => ({
  type,
  id: id ?? undefined,
  name: name ?? undefined,
});
