// Which notices a user has marked as done or dismissed. Kept in the browser: the gateway stores
// none of it.
import type { Notice, PartnerNotice } from './api/types';
import { dayInWords } from './period';

export type NoticeState = 'open' | 'done' | 'dismissed';
export type NoticeStates = Readonly<Record<string, NoticeState>>;

/** A notice as the console shows it. */
export interface ListedNotice extends Pick<Notice, 'id' | 'severity' | 'text'> {
  title: string;
  /** False: sent to this partner only. */
  is_announced: boolean;
}

/** Returns the notices to this partner, then those to all. `today` is a UTC day. */
export const listNotices = (
  own: readonly PartnerNotice[],
  announced: readonly Notice[],
  today: string,
): ListedNotice[] => [
  ...own.map(({ notice_id: id, severity, subject: title, text }) => ({
    ...{ id, severity, title, text },
    is_announced: false,
  })),
  ...announced.map(({ id, severity, text, ...notice }) => ({
    ...{ id, severity, text },
    title: effectiveText(notice, today),
    is_announced: true,
  })),
];

/** Where a notice leads, by its ID; others lead to their text in the changelog. */
export const SCREENS: Readonly<Record<string, { to: '/usage/ledger'; action: string }>> = {
  'service-messages-billable-2026-10-01': {
    to: '/usage/ledger',
    action: 'See what your messages cost',
  },
};

/** The period of a notice, in words. `today` is a UTC day. */
export const effectiveText = ({ effective }: Pick<Notice, 'effective'>, today: string): string =>
  effective > today
    ? `takes effect on ${dayInWords(effective)}`
    : `in effect since ${dayInWords(effective)}`;

export const stateOf = ({ id }: Pick<Notice, 'id'>, states: NoticeStates): NoticeState =>
  states[id] ?? 'open';

const keyOf = (partner_id: string): string => `bmg.notices.${partner_id}`;

export function readStates(partner_id: string, storage: Pick<Storage, 'getItem'>): NoticeStates {
  try {
    const stored = JSON.parse(storage.getItem(keyOf(partner_id)) ?? '{}') as unknown;
    return stored !== null && typeof stored === 'object' ? (stored as NoticeStates) : {};
  } catch {
    return {};
  }
}

/**
 * Keeps states of current notices only, so that the entry does not grow. `notices` is undefined
 * while they are not all known: every state is kept then.
 */
export function keepStates(
  partner_id: string,
  {
    notices,
    states,
  }: { notices?: ReadonlyArray<Pick<Notice, 'id'>> | undefined; states: NoticeStates },
  storage: Pick<Storage, 'setItem'>,
): void {
  const current = Object.entries(states).filter(
    ([id]) => notices === undefined || notices.some((one) => one.id === id),
  );
  try {
    storage.setItem(keyOf(partner_id), JSON.stringify(Object.fromEntries(current)));
  } catch {
    // A browser that stores nothing shows the notice again next time.
  }
}
