// The version history of the API, newest first, and the texts of the active notices.
export interface Release {
  version: string;
  /** Null if it is not recorded. */
  date: string | null;
  change: string;
}

export const HISTORY: readonly Release[] = [
  {
    version: '2.9.2',
    date: '1 Sep 2026',
    change:
      'Added PAYMENT_ACTION_REQUIRED (HTTP 402, with payment_url) for payments that need bank authentication. Paying the invoice reactivates a business account in billing_failed.',
  },
  {
    version: '2.9.1',
    date: '27 Aug 2026',
    change:
      'Added quoted replies (context, context_message_id, reply_to) to all five send endpoints. A context that cannot be parsed returns 400 INVALID_PAYLOAD.',
  },
  {
    version: '2.9.0',
    date: '21 Aug 2026',
    change:
      'Added 32 endpoints (68 in total). Errors have upstream_code, upstream_subcode and details. Irreversible actions require confirm: true. Two-step PINs are stored. Removed the client libraries. Corrected an example in camelCase.',
  },
  {
    version: '2.8.0',
    date: '20 Aug 2026',
    change:
      'Added the onboarding event log, the coexistence sync request and the field coexistence_sync.',
  },
  {
    version: '2.7.0',
    date: '20 Aug 2026',
    change:
      'Documented catalogue and product messages. Media endpoints count towards the rate limit, and downloads are logged.',
  },
  {
    version: '2.6.1',
    date: '17 Aug 2026',
    change:
      'Added the cancel and error messages of the onboarding popup. A session can be completed until 30 minutes after it expired. Rotating the partner key revokes unfinished sessions.',
  },
  {
    version: '2.6.0',
    date: '17 Aug 2026',
    change: 'Added POST /connect/session. The state is returned on completion.',
  },
  {
    version: '2.5.0',
    date: '16 Aug 2026',
    change:
      'Added user_id, messages[0].id and AUTH_TEMPLATE_NEEDS_PHONE. A BSUID in to is routed as a BSUID.',
  },
  { version: '2.4.0', date: '11 Aug 2026', change: 'Added recipient for sends to a BSUID.' },
  { version: '2.3.0', date: '11 Aug 2026', change: 'Documented BSUIDs. No endpoint changed.' },
  {
    version: '2.2.0',
    date: '8 Aug 2026',
    change:
      'Added pricing and conversation to status events, message_status to template sends, the notice headers, the object meta, standby events, waba.offboarded, waba.reconnected and waba.pricing_tier_updated.',
  },
  {
    version: '2.1.0',
    date: '5 Jun 2026',
    change: 'Added template events, account events and contact.synced.',
  },
  { version: '2.0.0', date: null, change: 'Added message.echo and message.history.' },
  {
    version: '1.4.6',
    date: null,
    change: 'Events are delivered to every partner that owns the number.',
  },
  {
    version: '1.4.5',
    date: null,
    change: 'Failures return 4xx or 5xx instead of HTTP 200 with success: false.',
  },
];

/** Texts of the notices, by ID. */
export const NOTICE_TEXTS: Readonly<Record<string, string>> = {
  'service-messages-billable-2026-10-01':
    'From 1 Oct 2026 the upstream bills two kinds of messages that were free: replies without a template inside the 24-hour customer service window, and utility templates delivered inside an open window. Free entry point conversations (72-hour window) stay free. Only billing changes: service messages still need no template and no approval, and the 24-hour window rules are unchanged.',
  'upstream-ai-agent-billing-2026-08-01':
    'From 1 Aug 2026 the upstream bills its AI agent per token (USD 2.00 per 1M tokens). Traffic sent through this service is not affected.',
};
