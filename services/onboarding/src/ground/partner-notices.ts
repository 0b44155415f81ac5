// The operator's notices to one partner: their rules. They are kept in the partner's document.
import { newId } from '@bmg/common/ids';
import { PARTNER_SEVERITIES, type PartnerSeverity } from '@bmg/common/notices';
import type { NotifyPartnerRequest } from '@bmg/proto/onboarding';
import type { PartnerNotice } from '@bmg/proto/settings';
import type { DueEvent } from './due-events';
import { checkOneOf, checkText } from './texts';

export interface StoredNotice extends PartnerNotice {
  severity: PartnerSeverity;
  created_at: Date;
}

/** A partner keeps this many; another one replaces the oldest. */
export const NOTICES_MAX = 20;
const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;
const SUBJECT_MAX = 120;
const TEXT_MAX = 2_000;
const CONTROL_BUT_LINES = /[^\P{Cc}\n\t]/u;

/** Notices that were created before have expired. */
export const noticesKeptSince = (now: Date): Date => new Date(now.getTime() - KEPT_DAYS * DAY_MS);

/** Returns the notice to store. Throws MISSING_FIELDS or INVALID_FIELD naming the field. */
export function createNotice(
  given: Pick<NotifyPartnerRequest, 'subject' | 'text' | 'severity'>,
  at: Date,
): StoredNotice {
  return {
    notice_id: newId('ntc', at.getTime()),
    severity: checkOneOf('severity', given.severity, PARTNER_SEVERITIES),
    subject: checkText('subject', given.subject, SUBJECT_MAX),
    text: checkText('text', given.text, TEXT_MAX, CONTROL_BUT_LINES),
    created_at: at,
  };
}

/** Returns the event of a notice. */
export const noticeEvent = ({ created_at, ...data }: StoredNotice): DueEvent => ({
  event: 'partner.notice',
  key: data.notice_id,
  at: created_at,
  data,
});

/** Returns the notices that have not expired, the newest first. */
export const currentNotices = (notices: StoredNotice[] = [], now: Date): StoredNotice[] =>
  notices.filter(({ created_at }) => created_at >= noticesKeptSince(now)).reverse();
