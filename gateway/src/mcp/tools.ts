// The tools of the MCP server: each is a row of the endpoint table under a name for agents.
// Description and input schema come from the row.
import { endpoints } from '../endpoints';
import type { Endpoint } from '../endpoints/endpoint';
import { documentPath } from '../openapi';
import { inputSchemaOf } from './arguments';

interface ToolRow {
  /** Verb and path of its row. */
  row: string;
  title: string;
  /** What an agent needs to know beyond the row's own description. */
  notes?: string;
  /** The tool sends messages once that is confirmed: `kind` of `POST /messages/check`. */
  sends?: 'text' | 'template' | 'media' | 'broadcast';
  /** A POST that changes nothing. */
  reads?: true;
}

const TOOLS: Readonly<Record<string, ToolRow>> = {
  list_numbers: {
    row: 'GET /clients',
    title: 'List your numbers',
    notes: 'Other tools take `waba_id` and `phone_number_id` of its items.',
  },
  check_message: { row: 'POST /messages/check', title: 'Check a message', reads: true },
  send_text: { row: 'POST /messages/send', title: 'Send a text', sends: 'text' },
  send_template: { row: 'POST /messages/template', title: 'Send a template', sends: 'template' },
  send_media: { row: 'POST /messages/media', title: 'Send a file', sends: 'media' },
  send_broadcast: {
    row: 'POST /broadcasts',
    title: 'Send a template to many contacts',
    sends: 'broadcast',
  },
  get_broadcast: { row: 'GET /broadcasts/:broadcast_id', title: 'Show a broadcast' },
  pause_broadcast: { row: 'POST /broadcasts/:broadcast_id/pause', title: 'Pause a broadcast' },
  cancel_broadcast: {
    row: 'POST /broadcasts/:broadcast_id/cancel',
    title: 'Cancel a broadcast',
    notes: 'Pause one that is processing.',
  },
  find_messages: { row: 'GET /messages', title: 'Find messages' },
  get_timeline: { row: 'GET /messages/:message_id/timeline', title: 'Show a message step by step' },
  list_events: { row: 'GET /events', title: 'Read events' },
  get_event: { row: 'GET /events/:event_id', title: 'Show an event with its deliveries' },
  list_templates: { row: 'GET /templates', title: 'List templates' },
  get_template: { row: 'GET /templates/:template_name', title: 'Show a template with its quality' },
  get_costs: { row: 'GET /usage/ledger', title: 'Show what messages cost' },
  get_usage: { row: 'GET /usage', title: 'Show calls, messages and billing' },
  diagnose_number: {
    row: 'GET /phone-status',
    title: 'Diagnose a number',
    notes: 'Read it when sends of the number fail.',
  },
  diagnose_account: {
    row: 'GET /waba',
    title: 'Diagnose a business account',
    notes: 'Read it when sends of the account fail.',
  },
};

const CONFIRMED =
  'Asks before it sends: the first call sends nothing and returns what would be sent, to how many recipients and at what price, with a `confirmation`. The second call, with the same arguments and the `confirmation`, sends. Repeating it sends nothing again. A client that can show a question to its user needs one call only.';

const rows = new Map(endpoints.map((endpoint) => [`${endpoint.verb} ${endpoint.path}`, endpoint]));

export function endpointOf(row: string): Endpoint {
  const endpoint = rows.get(row);
  if (!endpoint) throw new Error(`there is no row ${row}`);
  return endpoint;
}

/** What clients may rely on when they decide whether to ask a person first. */
const annotationsOf = ({ verb }: Endpoint, { reads }: ToolRow): Record<string, boolean> =>
  verb === 'GET' || reads
    ? { readOnlyHint: true, openWorldHint: false }
    : {
        readOnlyHint: false,
        // A message that was sent cannot be taken back.
        destructiveHint: true,
        // A confirmed call sends once.
        idempotentHint: true,
        openWorldHint: true,
      };

export type Tool = (typeof tools)[number];

/** In the order in which clients see them. */
export const tools = Object.entries(TOOLS).map(([name, row]) => {
  const { title, notes, sends } = row;
  const endpoint = endpointOf(row.row);
  const description = [
    `${endpoint.summary} (\`${endpoint.verb} ${documentPath(endpoint)}\`).`,
    sends && CONFIRMED,
    notes,
    endpoint.notes,
    endpoint.body?.requiredOneOfMessage && `Rule: ${endpoint.body.requiredOneOfMessage}.`,
  ];
  return {
    name,
    endpoint,
    sends,
    /** What clients see. */
    listed: {
      name,
      title,
      description: description.filter(Boolean).join(' '),
      inputSchema: inputSchemaOf(endpoint, sends !== undefined),
      annotations: annotationsOf(endpoint, row),
    },
  };
});
