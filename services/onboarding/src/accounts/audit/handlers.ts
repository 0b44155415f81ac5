// RPC handlers of the audit log. BeginChange answers once the record is stored: its caller makes
// the change only then, so that a change that was made always has a record.
import { randomBytes } from 'node:crypto';
import { CSV_TYPE } from '@bmg/common/csv';
import { ApiError, invalidField, missingFields } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import type { Handlers } from '@bmg/common/rpc';
import type {
  AuditDefinition,
  AuditRecord,
  BeginChangeRequest,
  ListAuditRecordsRequest,
  ListAuditRecordsResponse,
} from '@bmg/proto/audit';
import { OUTCOMES, type AuditEntry, type AuditFilter, type AuditLog, type Values } from './store';
import { checkChain } from './sealer';
import { createRecords, OPERATOR } from './records';
import {
  auditCsvHeader,
  auditCsvLine,
  boundedTarget,
  cut,
  FIELDS_MAX,
  kindOf,
  readCursor,
  recordable,
  recordMessage,
  writeCursor,
} from './rules';
import type { Dependencies } from '../../dependencies';
import { checkOneOf } from '../../ground/texts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;
/** Records of an export that are in memory at once. */
const EXPORT_CHUNK = 100;
/** The salt of a record keeps the hash of an address from being guessed. */
const SALT_BYTES = 16;
/** A longer period is exported in parts, by `from` and `to`. */
const EXPORT_RECORDS_MAX = 100_000;

export const createAuditHandlers = (deps: Dependencies): Handlers<AuditDefinition> => {
  const { auditLog, passkeys, people, now } = deps;
  const { record, leaveOutLookUp } = createRecords(deps);
  return {
    async beginChange(request) {
      if (request.action === '') throw missingFields(['action']);
      const at = now();
      const [actor, before] = await Promise.all([
        nameActor(deps, request),
        readBefore(deps, request),
      ]);
      const target = boundedTarget(request.target);
      const entry: AuditEntry = {
        ...entryOf(request, actor, at),
        target,
        target_ids: Object.values(target),
        waba_id: request.waba_id ?? null,
        fields: request.fields.slice(0, FIELDS_MAX).map(cut),
        before: recordable(before),
        after: recordable(request.after),
      };
      return { id: await record(entry, kindOf(request.kind, request.before_of, entry)) };
    },
    async recordRefusal({ passkey_id, code, count, ...given }) {
      if (given.action === '') throw missingFields(['action']);
      const at = now();
      const owner = passkey_id === undefined ? null : await passkeys.find(passkey_id);
      const request = owner
        ? { ...given, partner_id: owner.partner_id, actor: { type: 'person', id: owner.person_id } }
        : given;
      const entry: AuditEntry = {
        ...entryOf(request, await nameActor(deps, request), at),
        outcome: 'failed',
        code: cut(code),
        ended_at: at,
        ...(count > 1 && { count }),
      };
      await record(entry, 'refusal');
      return {};
    },
    async endChange({ id, outcome: given, code, target, waba_id, partner_id }) {
      const outcome = checkOneOf('outcome', given, OUTCOMES);
      const named = { target: boundedTarget(target), waba_id, partner_id };
      const ended = await auditLog.end(id, { outcome, code: code ?? null, ...named }, now());
      if (ended) await leaveOutLookUp(ended);
      return {};
    },
    ...readHandlers(deps),
    checkAuditChain: ({ above = Infinity }) => checkChain(deps, above),
    async eraseAuditPerson({ partner_id, person_id }) {
      if (await people.find(partner_id, person_id)) {
        const problem = 'is that of a person who may still sign in: remove it first';
        throw invalidField('person_id', problem);
      }
      return { records: await auditLog.erase(partner_id, person_id) };
    },
  };
};

const readHandlers = ({ auditLog, auditExports }: Dependencies) =>
  ({
    listAuditRecords: (request) =>
      readPage(auditLog, request, (entry) =>
        recordMessage({ ...hideOperator(entry), partner_id: null }),
      ),
    listAllAuditRecords: (request) =>
      readPage(auditLog, { ...request, partner_id: request.partner_id ?? null }, recordMessage),
    async *exportAuditRecords({ ...filter }) {
      const { partner_id } = filter;
      if (!auditExports.take(partner_id)) throw tooMany();
      try {
        yield { mime_type: CSV_TYPE, data: Buffer.from(auditCsvHeader) };
        for await (const entries of allPages(auditLog, filter)) {
          yield {
            data: Buffer.from(entries.map((one) => auditCsvLine(hideOperator(one))).join('')),
          };
        }
      } finally {
        auditExports.give(partner_id);
      }
    },
  }) satisfies Partial<Handlers<AuditDefinition>>;

/** A record of what has not ended, without what the change is about. */
const entryOf = (
  request: Pick<BeginChangeRequest, 'partner_id' | 'action' | 'request_id' | 'address'>,
  actor: AuditEntry['actor'],
  at: Date,
): AuditEntry => ({
  _id: newId('aud', at.getTime()),
  at,
  partner_id: request.partner_id ?? null,
  actor,
  action: cut(request.action),
  target: {},
  target_ids: [],
  waba_id: null,
  fields: [],
  before: null,
  after: null,
  outcome: 'unknown',
  code: null,
  request_id: cut(request.request_id),
  address: request.address === undefined ? null : cut(request.address),
  ended_at: null,
  salt: randomBytes(SALT_BYTES).toString('base64url'),
});

async function readPage(
  auditLog: AuditLog,
  {
    limit: given,
    cursor,
    ...filter
  }: AuditFilter & Pick<ListAuditRecordsRequest, 'limit' | 'cursor'>,
  shown: (entry: AuditEntry) => AuditRecord,
): Promise<ListAuditRecordsResponse> {
  const limit = given > 0 ? Math.min(given, LIMIT_MAX) : LIMIT_DEFAULT;
  const position = cursor === undefined ? undefined : readCursor(cursor);
  // An extra record shows whether there is a further page.
  const found = await auditLog.page(filter, position, limit + 1);
  const last = found.length > limit ? found[limit - 1] : undefined;
  return {
    records: found.slice(0, limit).map(shown),
    after: last && writeCursor({ at: last.at, id: last._id }),
  };
}

async function* allPages(auditLog: AuditLog, filter: AuditFilter): AsyncGenerator<AuditEntry[]> {
  let last: AuditEntry | undefined;
  for (let read = 0; read < EXPORT_RECORDS_MAX; read += EXPORT_CHUNK) {
    const position = last && { at: last.at, id: last._id };
    const entries = await auditLog.page(filter, position, EXPORT_CHUNK);
    if (entries.length > 0) yield entries;
    if (entries.length < EXPORT_CHUNK) return;
    last = entries.at(-1);
  }
}

const tooMany = (): ApiError =>
  new ApiError('RATE_LIMIT_EXCEEDED', 'too many exports are being read: try again in a moment', {
    retry_after_s: 1,
  });

/** The name of the key or address of the person now: it may be changed or removed later. */
async function nameActor(
  { partners, partnerKeys, people }: Dependencies,
  { partner_id, actor }: Pick<BeginChangeRequest, 'partner_id' | 'actor'>,
): Promise<AuditEntry['actor']> {
  if (!actor || actor.type === '') throw missingFields(['actor']);
  const { type, id } = actor;
  const nameOf = async (): Promise<string | undefined> => {
    if (partner_id === undefined) return undefined;
    if (type === 'api_key' && id) return (await partnerKeys.find(partner_id, id))?.name;
    if (type === 'person' && id) return (await people.find(partner_id, id))?.email;
    return type === 'partner_key' ? (await partners.find(partner_id))?.key_hint : undefined;
  };
  return { type: cut(type), id: id === undefined ? null : cut(id), name: (await nameOf()) ?? null };
}

/** The values of a record before its change. None of them is a secret. */
async function readBefore(
  { partners, partnerKeys, people }: Dependencies,
  { partner_id, target, before_of, before }: BeginChangeRequest,
): Promise<Values | undefined> {
  if (partner_id === undefined || before.length === 0) return undefined;
  const of = async (): Promise<Values | undefined> => {
    if (before_of === 'key') {
      const key = await partnerKeys.find(partner_id, target['key_id'] ?? '');
      if (!key) return undefined;
      const { name, scopes, waba_ids, addresses, expires_at } = key;
      return { name, scopes, waba_ids, addresses, expires_at: expires_at?.toISOString() ?? null };
    }
    if (before_of === 'person') {
      const person = await people.find(partner_id, target['person_id'] ?? '');
      return person && { email: person.email, role: person.role, state: person.state };
    }
    if (before_of !== 'partner') return undefined;
    const partner = await partners.find(partner_id);
    if (!partner) return undefined;
    const { name, status, webhook_url, rate_limit_per_sec, max_wabas, alerts = {}, logo } = partner;
    const { extra_events = [], connect_origins = [] } = partner;
    return {
      name,
      status,
      webhook_url,
      extra_events,
      connect_origins,
      rate_limit_per_sec,
      max_wabas,
      alerts,
      logo_url: logo?.url ?? null,
      // The name of the field in PUT /broadcast-approval.
      above: partner.approval_above ?? null,
    };
  };
  const found = await of();
  if (!found) return undefined;
  return Object.fromEntries(Object.entries(found).filter(([name]) => before.includes(name)));
}

/** A partner sees that the operator made a change, not which person of the operator's. */
const hideOperator = (entry: AuditEntry): AuditEntry =>
  entry.actor.type === OPERATOR
    ? { ...entry, actor: { type: OPERATOR, id: null, name: null } }
    : entry;
