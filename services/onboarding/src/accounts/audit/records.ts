// Where the record of a change goes: it has one to itself, or shares that of further changes like
// it. Changes have quotas, for each partner and day (UTC). An actor that uses up its quota, a key
// that leaked for example, leaves the partner's other actors theirs; what reduces risk is never
// refused.
import { ApiError, CATALOG, isErrorCode } from '@bmg/common/errors';
import { metrics } from '@bmg/common/telemetry';
import type { Dependencies } from '../../dependencies';
import { halfOf, isProgram, quotasOf, type Kind } from './rules';
import type { AuditEntry } from './store';

export const OPERATOR = 'operator';
const NOT_FOUND = 404;
/** Holds the quota of the refusals of unknown callers. */
const STRANGERS = 'strangers';
const DAY_S = 86_400;

export function createRecords(deps: Dependencies) {
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
    /** Returns the ID of the record. Throws RATE_LIMIT_EXCEEDED, without one, above a quota. */
    async record(entry: AuditEntry, kind: Kind) {
      const { partner_id, actor, at } = entry;
      // Changes by the operator are not counted: a partner cannot use up what its operator needs.
      const is_counted = kind === 'refusal' || (partner_id !== null && actor.type !== OPERATOR);
      if (!is_counted) return store(entry, 'itself');
      const place = await quota.admit({ partner_id: partner_id ?? STRANGERS, actor }, kind, at);
      return store(kind === 'change' ? { ...entry, counted: true } : entry, place);
    },
    /** A change of what does not exist leaves the quota for the reserve. */
    async leaveOutLookUp(ended: AuditEntry) {
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

/**
 * Where a change is recorded: in a record that it has to itself, or in the one record of the day's
 * further changes like it, of the same actor or of all actors of its type.
 */
type Place = 'itself' | 'of_actor' | 'of_type';

interface Counted {
  partner_id: string;
  actor: { type: string; id?: string | null | undefined };
}

function createQuota({ auditLog, settings, log }: Dependencies) {
  const quotas = quotasOf(settings.AUDITED_CHANGES_MAX);
  const reportHalf = (used: number, limit: number, of: Counted): void => {
    if (used !== halfOf(limit)) return;
    metrics.audit_quotas_half_used.inc();
    const { partner_id, actor } = of;
    log.warn({ partner_id, actor, limit }, 'half of a quota of audited changes was used');
  };
  /** The actor first: its refused changes do not count for the partner. */
  const admitChange = async (change: Counted, at: Date): Promise<Place> => {
    const { partner_id, actor } = change;
    const own = quotas.changes_of[actor.type];
    if (own !== undefined) {
      const { changes } = await auditLog.count(holderOf(change), 'changes', at);
      if (changes > own) throw usedUp(own, 'one key, link or person', at);
      reportHalf(changes, own, change);
    }
    const is_program = isProgram(actor.type);
    const counts = await auditLog.count(partner_id, fieldOf('changes', is_program), at);
    if (is_program && counts.program_changes > quotas.programs) {
      throw usedUp(quotas.programs, 'the keys and links of a partner', at);
    }
    const used = counts.changes + Math.min(counts.program_changes, quotas.programs);
    if (used > quotas.changes) throw usedUp(quotas.changes, 'a partner', at);
    reportHalf(used, quotas.changes, { partner_id, actor: { type: 'partner' } });
    return 'itself';
  };
  const admitToReserve = async (
    change: Counted,
    reserve: 'reserved' | 'log_ins' | 'refusals',
    at: Date,
  ): Promise<Place> => {
    const { partner_id, actor } = change;
    if (quotas.changes_of[actor.type] !== undefined) {
      const own = await auditLog.count(holderOf(change), reserve, at);
      if (own[reserve] > quotas.reserve_of_one) return 'of_actor';
    }
    const is_program = isProgram(actor.type);
    const field = reserve === 'reserved' ? fieldOf('reserved', is_program) : reserve;
    const counts = await auditLog.count(partner_id, field, at);
    const max = is_program ? halfOf(quotas.reserve) : quotas.reserve;
    return counts[field] > max ? 'of_type' : 'itself';
  };
  return {
    /** Throws RATE_LIMIT_EXCEEDED for a change whose actor or partner has used up its quota. */
    admit(change: Counted, kind: Kind, at: Date) {
      if (kind === 'change') return admitChange(change, at);
      return admitToReserve(change, RESERVES[kind], at);
    },
    /** Takes an admitted change out of the quota. */
    async giveBack(change: Counted, at: Date) {
      const { partner_id, actor } = change;
      if (quotas.changes_of[actor.type] !== undefined) {
        await auditLog.count(holderOf(change), 'changes', at, -1);
      }
      await auditLog.count(partner_id, fieldOf('changes', isProgram(actor.type)), at, -1);
    },
  };
}

const RESERVES = { reduces_risk: 'reserved', log_in: 'log_ins', refusal: 'refusals' } as const;

const holderOf = ({ partner_id, actor: { type, id } }: Counted): string =>
  `${partner_id} ${type}:${id ?? ''}`;

const fieldOf = <F extends 'changes' | 'reserved'>(
  field: F,
  is_program: boolean,
): F | `program_${F}` => (is_program ? `program_${field}` : field);

const usedUp = (limit: number, holder: string, at: Date): ApiError =>
  new ApiError(
    'RATE_LIMIT_EXCEEDED',
    `${limit} changes were made today (UTC), the most that the audit log records for ${holder}: nothing was changed, try again tomorrow`,
    { retry_after_s: DAY_S - Math.floor((at.getTime() / 1_000) % DAY_S), details: { limit } },
  );
