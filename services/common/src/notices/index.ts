// Announcements to partners, carried by every response (headers) and every event (meta). Ids never
// change, so that a partner can suppress the ones it has handled.

export const API_VERSION = '2.9.2';

/** The severities that a notice to one partner can have. */
export const PARTNER_SEVERITIES = ['info', 'action_required'] as const;
export type PartnerSeverity = (typeof PARTNER_SEVERITIES)[number];

export type Severity = PartnerSeverity | 'breaking';

export interface Notice {
  id: string;
  severity: Severity;
  /** Day from which the notice applies, YYYY-MM-DD. */
  effective: string;
}

export const NOTICES: readonly Notice[] = [
  {
    // Replies inside the 24-hour window and utility templates in an open window become billable
    // upstream.
    id: 'service-messages-billable-2026-10-01',
    severity: 'action_required',
    effective: '2026-10-01',
  },
  {
    // The upstream AI agent bills by token; traffic through this service is not affected.
    id: 'upstream-ai-agent-billing-2026-08-01',
    severity: 'info',
    effective: '2026-08-01',
  },
];

const RANK: Severity[] = ['info', 'action_required', 'breaking'];

/** The highest severity among the notices; undefined when there is none. */
export const highestSeverity = (notices: readonly Notice[]): Severity | undefined =>
  RANK.filter((severity) => notices.some((notice) => notice.severity === severity)).at(-1);

/** The fields of every event's `meta`, beside its own id (contract 12.1). */
export const eventMeta = (changelog: string) => ({
  api_version: API_VERSION,
  changelog,
  notices: NOTICES.map(({ id, severity, effective }) => ({ id, severity, effective })),
});
