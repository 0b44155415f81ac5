// The endpoint table. A new endpoint is a row, a schema and its docs in one of these folders; a new
// chapter is a folder and an entry here.
import { analytics } from './analytics/rows';
import { audit } from './audit/rows';
import { broadcasts } from './broadcasts/rows';
import { callsGroups } from './calls-groups/rows';
import { diagnostics } from './diagnostics/rows';
import type { Endpoint } from './endpoint';
import { events } from './events/rows';
import { keys } from './keys/rows';
import { ledger } from './ledger/rows';
import { media } from './media/rows';
import { messages } from './messages/rows';
import { numberSetup } from './number-setup/rows';
import { onboarding } from './onboarding/rows';
import { people } from './people/rows';
import { phone } from './phone/rows';
import { profile } from './profile/rows';
import { recovery } from './recovery/rows';
import { templates } from './templates/rows';
import { webhookEndpoints } from './webhook-endpoints/rows';
import { webhookShadows } from './webhook-shadows/rows';

export interface Chapter {
  name: string;
  /** Introduces the chapter in the OpenAPI document. */
  description: string;
  rows: Endpoint[];
}

/** In the order of the reference. */
export const chapters: readonly Chapter[] = [
  {
    name: 'Onboarding and usage',
    description: 'Connect, list and delete client numbers, and retrieve usage.',
    rows: onboarding,
  },
  {
    name: 'Messages',
    description:
      'Send messages, react to messages, mark messages as read, and see what became of them.',
    rows: messages,
  },
  {
    name: 'Media and contacts',
    description: 'Upload and download files, and look up phone numbers.',
    rows: media,
  },
  {
    name: 'Templates',
    description: 'List, create and delete message templates.',
    rows: templates,
  },
  {
    name: 'Profile',
    description: 'Retrieve and update the business profile of a number.',
    rows: profile,
  },
  {
    name: 'Analytics',
    description: 'Count sent, delivered and read messages by day.',
    rows: analytics,
  },
  {
    name: 'Costs',
    description: 'Read what messages cost, by message and in total.',
    rows: ledger,
  },
  {
    name: 'Broadcasts',
    description: 'Send one template to many contacts, at the rate the number allows.',
    rows: broadcasts,
  },
  {
    name: 'Number setup',
    description:
      'Manage QR codes, conversational automation, blocked users, commerce and settings of a number.',
    rows: numberSetup,
  },
  {
    name: 'Account and diagnostics',
    description: 'Read what the upstream reports about a business account.',
    rows: diagnostics,
  },
  {
    name: 'Phone number lifecycle',
    description: 'Verify, register and deregister numbers.',
    rows: phone,
  },
  {
    name: 'Calling and groups',
    description: 'Place calls and manage groups on numbers that have these features enabled.',
    rows: callsGroups,
  },
  {
    name: 'Webhook recovery',
    description: 'List events that could not be delivered, and redeliver them.',
    rows: recovery,
  },
  {
    name: 'Event log',
    description:
      'Read every event by its position, as a second way to receive events or as the only one.',
    rows: events,
  },
  {
    name: 'Webhook endpoints',
    description:
      'Add receivers beside your webhook URL, each with a filter, a secret and a health of its own.',
    rows: webhookEndpoints,
  },
  {
    name: 'Shadow receivers',
    description:
      'Try a new receiver on your events before you switch to it, without effect on the first one.',
    rows: webhookShadows,
  },
  {
    name: 'API keys',
    description:
      'Create keys beside your partner key, each with the rights that its program needs.',
    rows: keys,
  },
  {
    name: 'People',
    description: 'Invite the people who sign in to the console, each with a role.',
    rows: people,
  },
  {
    name: 'Audit log',
    description: 'Read who changed what, and when.',
    rows: audit,
  },
];

export const endpoints: Endpoint[] = chapters.flatMap(({ rows }) => rows);
