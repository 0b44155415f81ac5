// The home page's send, live: with the reader's own session and number, and the events that it
// causes as they come. If there is no session, the page shows a send and its events as they were
// recorded.
import { element } from './element';
import { api, findReader, type Reader, type ReaderNumber } from './reader';

/** A number reserved for examples; the local emulator knows it. */
const EXAMPLE = '15550100777';
const WAIT_S = 5;
/** After this time without a final status, the rest is in the console. */
const FOLLOW_MS = 30_000;
const FINAL = new Set(['message.read', 'message.failed']);

const NOT_SENT = 'It was not sent';
const UNKNOWN = 'It may have been sent. Look for it in the console before you send it again';
const NOT_FOLLOWED = 'It was sent, but its events could not be read here. The console shows them';

interface LoggedEvent {
  event: string;
  envelope: { data?: { message_id?: string } };
}

interface EventPage {
  events: LoggedEvent[];
  next: number;
  newest: number;
}

type Failure = { error?: { message: string; retryable: boolean; upstream_code?: number } };

/** An error answer. Nothing was done if it is certain; otherwise the outcome is unknown. */
class Refused extends Error {
  readonly is_certain: boolean;

  constructor({ status }: Response, { error }: Failure) {
    super(error?.message ?? `HTTP ${status}`);
    this.is_certain =
      status < 500 || error?.retryable === true || error?.upstream_code !== undefined;
  }
}

async function call<T>(path: string, request: RequestInit = {}): Promise<T> {
  const answer = await fetch(api(path), request);
  const body = (await answer.json()) as T & Failure;
  if (!answer.ok) throw new Refused(answer, body);
  return body;
}

const json = (value: unknown): HTMLElement =>
  element('pre', { tabindex: '0' }, element('code', {}, JSON.stringify(value, null, 2)));

interface Sending {
  reader: Reader;
  number: ReaderNumber;
  to: string;
  text: string;
}

function send({ reader, number, to, text }: Sending): Promise<{ message_id: string }> {
  return call('/v1/messages/send', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-csrf-token': reader.csrf_token,
      'x-waba-id': number.waba_id,
      'x-phone-number-id': number.phone_number_id,
    },
    body: JSON.stringify({ to, text }),
  });
}

/** Adds the events of the message to the list as they come, each with its time after the send. */
async function follow(message_id: string, list: HTMLElement, after: number): Promise<void> {
  const sent_at = performance.now();
  let position = after;
  while (performance.now() - sent_at < FOLLOW_MS) {
    const page = await call<EventPage>(`/v1/events?after=${position}&wait=${WAIT_S}`);
    position = page.next;
    for (const { event, envelope } of page.events) {
      if (envelope.data?.message_id !== message_id) continue;
      const seconds = ((performance.now() - sent_at) / 1_000).toFixed(1);
      const title = element('p', {}, element('code', {}, event), ` after ${seconds} s`);
      list.append(element('li', {}, title, json(envelope)));
      if (FINAL.has(event)) return;
    }
  }
}

function formOf(reader: Reader, number: ReaderNumber): HTMLElement {
  const to = element('input', { type: 'tel', id: 'live-to', value: EXAMPLE });
  const text = element('input', { type: 'text', id: 'live-text', value: 'Hello from the docs' });
  const button = element('button', { type: 'submit', class: 'primary' }, 'Send it now');
  const status = element('p', { role: 'status' });
  const list = element('ol', { class: 'live-events', 'aria-label': 'Events of the message' });
  const form = element(
    'form',
    { class: 'live-form' },
    element('label', { for: 'live-to' }, 'To'),
    to,
    element('label', { for: 'live-text' }, 'Text'),
    text,
    button,
  );
  const run = async (): Promise<void> => {
    list.replaceChildren();
    let failure = NOT_SENT;
    try {
      status.textContent = 'Sending …';
      const { newest } = await call<EventPage>('/v1/events?limit=1');
      failure = UNKNOWN;
      const { message_id } = await send({ reader, number, to: to.value.trim(), text: text.value });
      failure = `Accepted as ${message_id}. ${NOT_FOLLOWED}`;
      status.textContent = `Accepted as ${message_id}. Its events:`;
      await follow(message_id, list, newest);
    } catch (error) {
      if (failure === UNKNOWN && error instanceof Refused && error.is_certain) failure = NOT_SENT;
      status.textContent = `${failure}: ${(error as Error).message}`;
    }
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    button.disabled = true;
    void run().finally(() => (button.disabled = false));
  });
  const note = `A real message from your number ${number.name}, at its price.`;
  return element('div', {}, element('p', { class: 'dim' }, note), form, status, list);
}

/** Fills the place for it on the home page. */
export async function prepareLive(): Promise<void> {
  const place = document.querySelector('#live-run');
  if (!place) return;
  const reader = await findReader();
  const number = reader?.numbers[0];
  if (reader && number) place.replaceChildren(formOf(reader, number));
}
