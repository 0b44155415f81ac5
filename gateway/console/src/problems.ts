// Groups failures by their cause: failed messages, events that the receiver did not accept, and
// calls that were refused. Pure.
import type { FailedEvent, LoggedRequest, Message } from './api/types';
import { adviceOf, type Advice } from './reasons';
import { deliveryOf, subjectOf } from './screens/events/rules';

export const CAUSES = {
  gateway: {
    title: 'Our side',
    text: 'The gateway failed. It repeats what can be repeated; give support the request ID.',
  },
  upstream: {
    title: 'The upstream',
    text: 'The platform refused or held back what you sent, for a reason of the account or of its own.',
  },
  receiver: {
    title: 'Your receiver',
    text: 'Your webhook did not accept events. They are kept, and delivered again once it works.',
  },
  recipient: {
    title: 'The recipient',
    text: 'The person cannot be reached, or does not want the message. Sending it again rarely helps.',
  },
  request: {
    title: 'What you sent',
    text: 'The message, its template or the call has to be changed before it works.',
  },
} as const;
export type Cause = keyof typeof CAUSES;

/** One failure. What does not apply to it is absent. */
export interface Item {
  id: string;
  at: string;
  /** The person; null if the failure concerns none. */
  contact?: string | null;
  /** The event or the call. */
  what: string;
  attempts?: number;
  message_id?: string | null;
  phone_number_id?: string | null;
  request_id?: string;
  trace_id?: string | null;
  /** Set if it can be delivered again. */
  event?: FailedEvent;
}

export interface Problem {
  cause: Cause;
  /** The upstream's code, the receiver's answer, or our error code. */
  code: string;
  meaning: string;
  action: string;
  /** Newest first. */
  items: Item[];
}

export interface Found {
  messages: readonly Message[];
  events: readonly FailedEvent[];
  requests: readonly LoggedRequest[];
}

type Placed = Omit<Problem, 'items'> & { item: Item };

/** The name of a group in the address of the screen. */
export const keyOf = ({ cause, code }: Pick<Problem, 'cause' | 'code'>): string =>
  `${cause}/${code}`;

/**
 * Groups in the order of the causes, the largest of a cause first. `advise` explains upstream
 * codes.
 */
export function problemsOf(found: Found, advise: typeof adviceOf = adviceOf): Problem[] {
  const groups = new Map<string, Problem>();
  const placed = [
    ...found.messages.map((message) => ofMessage(message, advise)),
    ...found.events.map(ofEvent),
    ...found.requests
      .filter(({ status }) => status >= 400)
      .map((request) => ofRequest(request, advise)),
  ];
  for (const { item, ...about } of placed) {
    const key = keyOf(about);
    const group = groups.get(key) ?? { ...about, items: [] };
    group.items.push(item);
    groups.set(key, group);
  }
  const order = Object.keys(CAUSES);
  return [...groups.values()]
    .map((group) => ({
      ...group,
      items: group.items.sort((one, other) => other.at.localeCompare(one.at)),
    }))
    .sort(
      (one, other) =>
        order.indexOf(one.cause) - order.indexOf(other.cause) ||
        other.items.length - one.items.length,
    );
}

const isCause = (cause: string): cause is Cause => cause in CAUSES;

function ofMessage(message: Message, advise: (code: string) => Advice | undefined): Placed {
  const code = message.error_code ?? 'unknown';
  const advice = advise(code);
  return {
    cause: advice && isCause(advice.cause) ? advice.cause : 'upstream',
    code,
    meaning: advice?.meaning ?? 'The upstream gave a code that the reference does not explain.',
    action: advice?.action ?? 'See the timeline of a message, and ask support with its trace.',
    item: {
      id: message.message_id,
      at: message.updated_at,
      contact: message.contact,
      what: message.kind,
      message_id: message.message_id,
      phone_number_id: message.phone_number_id,
      trace_id: message.trace_id,
    },
  };
}

function ofEvent(event: FailedEvent): Placed {
  const { contact, message_id } = subjectOf(event.payload);
  const status = event.last_http_status;
  return {
    cause: 'receiver',
    code: status === null ? (event.last_error ?? 'not tried yet') : `HTTP ${status}`,
    ...receiverAdvice(status, event.attempts),
    item: {
      id: deliveryOf(event),
      at: event.last_attempt_at ?? event.created_at,
      contact,
      what: event.event,
      attempts: event.attempts,
      message_id,
      phone_number_id: event.phone_number_id,
      event,
    },
  };
}

const RECEIVER_ADVICE = {
  waits: { meaning: 'These events wait for their first attempt.', action: 'Wait a moment.' },
  unreachable: {
    meaning: 'Your receiver could not be reached, or did not answer in time.',
    action: 'See that it runs and that its address is right, then send a test event.',
  },
  redirected: {
    meaning: 'Your receiver redirected the event, which counts as not accepted.',
    action: 'Set the final address in the settings, then send a test event.',
  },
  refused: {
    meaning: 'Your receiver refused the events.',
    action: 'Check its path and how it verifies signatures, then send a test event.',
  },
  failed: {
    meaning: 'Your receiver failed while it handled the events.',
    action: 'See its log, fix it, then send a test event.',
  },
} as const;

function receiverAdvice(status: number | null, attempts: number): Omit<Advice, 'cause'> {
  if (status === null) return RECEIVER_ADVICE[attempts === 0 ? 'waits' : 'unreachable'];
  if (status < 400) return RECEIVER_ADVICE.redirected;
  return RECEIVER_ADVICE[status < 500 ? 'refused' : 'failed'];
}

/** The upstream's code says whose fault it is: most that it refuses are mistakes of the call. */
function ofRequest(request: LoggedRequest, advise: (code: string) => Advice | undefined): Placed {
  const { status, code, upstream_code, method, path, at, request_id } = request;
  const name = code ?? `HTTP ${status}`;
  const advice = upstream_code === null ? undefined : advise(String(upstream_code));
  const usual: Cause =
    status < 500 ? 'request' : name.startsWith('UPSTREAM') ? 'upstream' : 'gateway';
  return {
    cause: advice && isCause(advice.cause) ? advice.cause : usual,
    code: upstream_code === null ? name : String(upstream_code),
    meaning:
      advice?.meaning ?? request.meaning ?? `Calls of the API were answered with HTTP ${status}.`,
    action:
      advice?.action ??
      request.action ??
      'The error reference says what the code means and whether to repeat the call.',
    item: { id: request_id, at, what: `${method} ${path}`, request_id },
  };
}

/** The people of a group, each once. */
export const peopleOf = ({ items }: Problem): string[] => [
  ...new Set(items.flatMap(({ contact }) => contact ?? [])),
];
