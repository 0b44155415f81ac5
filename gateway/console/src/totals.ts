// The messages of a usage record, whatever their category. Pure.
import type { Counts, Usage } from './api/types';

const NONE: Counts = { sent: 0, delivered: 0, read: 0, failed: 0, billable: 0, free: 0 };

export const totalsOf = ({ messages }: Pick<Usage, 'messages'>): Counts =>
  Object.values(messages).reduce(
    (sum, counts) => ({
      sent: sum.sent + counts.sent,
      delivered: sum.delivered + counts.delivered,
      read: sum.read + counts.read,
      failed: sum.failed + counts.failed,
      billable: sum.billable + counts.billable,
      free: sum.free + counts.free,
    }),
    NONE,
  );
