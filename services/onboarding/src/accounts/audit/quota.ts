// Quotas of audited changes, for each partner and day (UTC). An actor that uses up its quota, a key that
// leaked for example, leaves the partner's other actors theirs; what reduces risk is never refused.
import { ApiError } from '@bmg/common/errors';
import { metrics, type Logger } from '@bmg/common/telemetry';
import { halfOf, isProgram, quotasOf, type Kind } from './rules';
import type { AuditLog } from './store';

const DAY_S = 86_400;

/**
 * Where a change is recorded: in a record that it has to itself, or in the one record of the day's further
 * changes like it, of the same actor or of all actors of its type.
 */
export type Place = 'itself' | 'of_actor' | 'of_type';

export interface Quota {
  /** Throws RATE_LIMIT_EXCEEDED for a change whose actor or partner has used up its quota. */
  admit(change: Counted, kind: Kind, at: Date): Promise<Place>;
  /** Takes an admitted change out of the quota. */
  giveBack(change: Counted, at: Date): Promise<void>;
}

interface Counted {
  partner_id: string;
  actor: { type: string; id?: string | null | undefined };
}

export interface QuotaDependencies {
  auditLog: Pick<AuditLog, 'count'>;
  settings: { AUDITED_CHANGES_MAX: number };
  log: Pick<Logger, 'warn'>;
}

export function createQuota({ auditLog, settings, log }: QuotaDependencies): Quota {
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
    admit(change, kind, at) {
      if (kind === 'change') return admitChange(change, at);
      return admitToReserve(change, RESERVES[kind], at);
    },
    async giveBack(change, at) {
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
