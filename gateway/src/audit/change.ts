// What the audit log keeps of one change: IDs, names of fields, and the values that the row allows.
// Pure.
import type { BeginChangeRequest } from '@bmg/proto/audit';
import type { Endpoint, Fields, Input, RowAudit } from '../endpoints/endpoint';
import type { Schema } from '../endpoints/parts/schema';
import { actionOf } from './audited';

export type Change = Omit<BeginChangeRequest, 'actor' | 'request_id' | 'address'> & {
  actor: { type: ActorType; id?: string | undefined };
};
export type ActorType = 'partner_key' | 'api_key' | 'person' | 'console' | 'sign_up_link';

/** Who made a request, as it proved. */
export interface Maker {
  /** The API key of the request; absent for the partner key. */
  key_id?: string | undefined;
  /** The person whose console session the request has; absent for the partner key. */
  person_id?: string | undefined;
  /** Names the console session of the request, without its token. */
  console_session?: string;
}

/** Who made the request. */
export function actorOf(
  { console_session, key_id, person_id }: Maker,
  session_id?: string | undefined,
): Change['actor'] {
  if (person_id !== undefined) return { type: 'person', id: person_id };
  if (console_session !== undefined) return { type: 'console', id: console_session };
  if (session_id !== undefined) return { type: 'sign_up_link', id: session_id };
  return key_id === undefined ? { type: 'partner_key' } : { type: 'api_key', id: key_id };
}

type Row = Pick<Endpoint, 'verb' | 'path' | 'body' | 'audit'>;

export function changeOf(
  row: Row,
  { partner_id, params, body, target, waba_id, session_id }: Input,
  state: Maker,
): Change {
  const ids: Record<string, string> = {
    ...(waba_id !== undefined && { waba_id }),
    ...(target && { waba_id: target.waba_id, phone_number_id: target.phone_number_id }),
    ...params,
    ...idsOf(row.audit, known(row, body)),
  };
  return {
    partner_id,
    actor: actorOf(state, session_id),
    action: actionOf(row),
    target: ids,
    waba_id: ids['waba_id'],
    ...givenOf(row, body),
  };
}

/** Leaves out fields that the schema lacks: the caller chose their names and values. */
const known = ({ body: schema }: { body?: Schema | undefined }, body: Fields): Fields =>
  Object.fromEntries(
    Object.keys(schema?.properties ?? {}).flatMap((name) =>
      body[name] === undefined ? [] : [[name, body[name]]],
    ),
  );

/** Names of the given fields, and the values that may be kept. */
export function givenOf(
  row: { body?: Schema | undefined; audit?: RowAudit | undefined },
  body: Fields,
): Pick<Change, 'fields' | 'after' | 'before_of' | 'before' | 'kind'> {
  const { values = [], before_of, before, reduces_risk } = row.audit ?? {};
  const fields = Object.keys(known(row, body));
  const kept = fields.filter((name) => values.includes(name));
  return {
    fields,
    after:
      kept.length === 0 ? undefined : Object.fromEntries(kept.map((name) => [name, body[name]])),
    before_of: before_of ?? '',
    before: before_of === undefined ? [] : [...(before ?? kept)],
    ...(reduces_risk !== undefined && { kind: kindOf(reduces_risk, body) }),
  };
}

function kindOf(reduces_risk: NonNullable<RowAudit['reduces_risk']>, body: Fields): string {
  if (reduces_risk === 'if_narrower') return 'narrows';
  return reduces_risk === true || reduces_risk(body) ? 'reduces_risk' : 'change';
}

/** The IDs that a row names, as a body or a reply has them. */
export const idsOf = (audit: RowAudit | undefined, from: Fields): Record<string, string> =>
  Object.fromEntries(
    Object.entries(audit?.ids ?? {}).flatMap(([name, path]) => {
      const id = valueAt(from, path.split('.'));
      const is_id = typeof id === 'number' || (typeof id === 'string' && id !== '');
      return is_id ? [[name, String(id)]] : [];
    }),
  );

function valueAt(from: unknown, path: readonly string[]): unknown {
  let at = from;
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Fields)[name];
  }
  return at;
}
