// The endpoint table. A new endpoint is a row, with its schema and its docs, in one of these
// folders; a new chapter is a folder and an entry here.
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

const CHAPTERS: ReadonlyArray<[name: string, description: string, rows: Endpoint[]]> = [
  [
    'Onboarding and usage',
    'Connect, list and delete client numbers, and retrieve usage.',
    onboarding,
  ],
  [
    'Messages',
    'Send messages, react to messages, mark messages as read, and see what became of them.',
    messages,
  ],
  ['Media and contacts', 'Upload and download files, and look up phone numbers.', media],
  ['Templates', 'List, create and delete message templates.', templates],
  ['Profile', 'Retrieve and update the business profile of a number.', profile],
  ['Analytics', 'Count sent, delivered and read messages by day.', analytics],
  ['Costs', 'Read what messages cost, by message and in total.', ledger],
  ['Broadcasts', 'Send one template to many contacts, at the rate the number allows.', broadcasts],
  [
    'Number setup',
    'Manage QR codes, conversational automation, blocked users, commerce and settings of a number.',
    numberSetup,
  ],
  [
    'Account and diagnostics',
    'Read what the upstream reports about a business account.',
    diagnostics,
  ],
  ['Phone number lifecycle', 'Verify, register and deregister numbers.', phone],
  [
    'Calling and groups',
    'Place calls and manage groups on numbers that have these features enabled.',
    callsGroups,
  ],
  ['Webhook recovery', 'List events that could not be delivered, and redeliver them.', recovery],
  [
    'Event log',
    'Read every event by its position, as a second way to receive events or as the only one.',
    events,
  ],
  [
    'Webhook endpoints',
    'Add receivers beside your webhook URL, each with a filter, a secret and a health of its own.',
    webhookEndpoints,
  ],
  [
    'Shadow receivers',
    'Try a new receiver on your events before you switch to it, without effect on the first one.',
    webhookShadows,
  ],
  [
    'API keys',
    'Create keys beside your partner key, each with the rights that its program needs.',
    keys,
  ],
  ['People', 'Invite the people who sign in to the console, each with a role.', people],
  ['Audit log', 'Read who changed what, and when.', audit],
];

/** In the order of the reference. */
export const chapters: readonly Chapter[] = CHAPTERS.map(([name, description, rows]) => ({
  name,
  description,
  rows,
}));

export const endpoints: Endpoint[] = chapters.flatMap(({ rows }) => rows);
