// Which rows of the endpoint table the audit log records, and under which names.
import { documentPath, keyScopeOf, type Endpoint } from '../endpoints/endpoint';

/**
 * All changes except sends, which have logs of their own. A row with the scope `send` that does
 * more (a broadcast) declares it with `audit`.
 */
export const isAudited = (row: Pick<Endpoint, 'verb' | 'key_scope' | 'audit'>): boolean =>
  row.verb !== 'GET' && (keyScopeOf(row) !== 'send' || row.audit !== undefined);

/** `PATCH /keys/{key_id}`: the same whether a program or the console makes the change. */
export const actionOf = (row: Pick<Endpoint, 'verb' | 'path'>): string =>
  `${row.verb} ${documentPath(row)}`;
