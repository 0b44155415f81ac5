// Where the record of a change goes: it has one to itself, or shares that of further changes like it.
import { CATALOG, isErrorCode } from '@bmg/common/errors';
import { createQuota, type Place, type QuotaDependencies } from './quota';
import type { Kind } from './rules';
import type { AuditEntry, AuditLog } from './store';

export const OPERATOR = 'operator';
const NOT_FOUND = 404;
/** Holds the quota of the refusals of unknown callers. */
const STRANGERS = 'strangers';

export interface Records {
  /** Returns the ID of the record. Throws RATE_LIMIT_EXCEEDED, without one, above a quota. */
  record(entry: AuditEntry, kind: Kind): Promise<string>;
  /** A change of what does not exist leaves the quota for the reserve. */
  leaveOutLookUp(ended: AuditEntry): Promise<void>;
}

type RecordsDependencies = QuotaDependencies & {
  auditLog: Pick<AuditLog, 'insert' | 'repeat' | 'remove'>;
};

export function createRecords(deps: RecordsDependencies): Records {
  const { auditLog } = deps;
  const quota = createQuota(deps);
  const store = async (entry: AuditEntry, place: Place): Promise<string> => {
    if (place === 'of_actor') return auditLog.repeat(entry);
    if (place === 'of_type') {
      return auditLog.repeat({ ...entry, actor: { type: entry.actor.type, id: null, name: null } });
    }
    await auditLog.insert(entry);
    return entry._id;
  };
  return {
    async record(entry, kind) {
      const { partner_id, actor, at } = entry;
      // Changes by the operator are not counted: a partner cannot use up what its operator needs.
      const is_counted = kind === 'refusal' || (partner_id !== null && actor.type !== OPERATOR);
      if (!is_counted) return store(entry, 'itself');
      const place = await quota.admit({ partner_id: partner_id ?? STRANGERS, actor }, kind, at);
      return store(kind === 'change' ? { ...entry, counted: true } : entry, place);
    },
    async leaveOutLookUp(ended) {
      const { _id, partner_id, actor, at, code, counted } = ended;
      if (!counted || partner_id === null || !isNotFound(code)) return;
      await quota.giveBack({ partner_id, actor }, at);
      const place = await quota.admit({ partner_id, actor }, 'reduces_risk', at);
      if (place === 'itself') return;
      await store(ended, place);
      await auditLog.remove(_id);
    },
  };
}

const isNotFound = (code: string | null): boolean =>
  code !== null && isErrorCode(code) && CATALOG[code].http === NOT_FOUND;
