// The versions of the interface, newest first, and what the active notices say. Changes are additive
// unless noted.
export interface Release {
  version: string;
  /** Null where it is not recorded. */
  date: string | null;
  change: string;
}

export const HISTORY: readonly Release[] = [
  {
    version: '2.9.2',
    date: '1 Sep 2026',
    change:
      'PAYMENT_ACTION_REQUIRED (HTTP 402, payment_url) added for payments that need authentication by the bank; paying an invoice revives a business account that is billing_failed',
  },
  {
    version: '2.9.1',
    date: '27 Aug 2026',
    change:
      'Quoted replies (context, context_message_id, reply_to) on all five send paths; a context that cannot be parsed gives 400 INVALID_PAYLOAD',
  },
  {
    version: '2.9.0',
    date: '21 Aug 2026',
    change:
      '32 endpoints added (68 in total); errors carry upstream_code, upstream_subcode and details; irreversible actions need confirm: true; PIN storage; client libraries removed; camelCase example corrected',
  },
  {
    version: '2.8.0',
    date: '20 Aug 2026',
    change: 'Onboarding event log, coexistence sync request and the field coexistence_sync',
  },
  {
    version: '2.7.0',
    date: '20 Aug 2026',
    change:
      'Catalogue and product messages documented; media endpoints are rate-limited and downloads logged',
  },
  {
    version: '2.6.1',
    date: '17 Aug 2026',
    change:
      'Cancel and error messages of the popup; completion allowed until 30 minutes past expiry; key rotation revokes unfinished sessions',
  },
  {
    version: '2.6.0',
    date: '17 Aug 2026',
    change: 'POST /connect/session; state is returned',
  },
  {
    version: '2.5.0',
    date: '16 Aug 2026',
    change:
      'Field user_id; a BSUID in to is routed correctly; messages[0].id added; AUTH_TEMPLATE_NEEDS_PHONE',
  },
  { version: '2.4.0', date: '11 Aug 2026', change: 'recipient for sends to a BSUID' },
  { version: '2.3.0', date: '11 Aug 2026', change: 'BSUID documented; no endpoint changed' },
  {
    version: '2.2.0',
    date: '8 Aug 2026',
    change:
      'pricing and conversation on status events; notice headers; the object meta; standby events; offboarding and reconnection events; waba.pricing_tier_updated; message_status on template sends',
  },
  {
    version: '2.1.0',
    date: '5 Jun 2026',
    change: 'Template and account events, contact.synced',
  },
  { version: '2.0.0', date: null, change: 'message.echo, message.history' },
  { version: '1.4.6', date: null, change: 'Events go to all partners that own a number' },
  { version: '1.4.5', date: null, change: 'Failures answer 4xx or 5xx' },
];

/** What a notice says, by its id. */
export const NOTICE_TEXTS: Readonly<Record<string, string>> = {
  'service-messages-billable-2026-10-01':
    'From 1 Oct 2026 two kinds of messages that were free become billable upstream: replies without a template inside the 24-hour customer service window, and utility templates delivered inside an open window. Free entry point conversations (72 hours) stay free. Only billing changes: service messages still need no template and no approval, and the rules of the window stay.',
  'upstream-ai-agent-billing-2026-08-01':
    'The upstream’s AI agent is billed by token from 1 Aug 2026 (USD 2.00 per 1M tokens). Traffic that is sent through this service is not concerned.',
};
