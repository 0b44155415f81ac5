// Who reads: a partner that is signed in to the console on this gateway. Its number takes the place
// of the sample's, and the end of its key shows which one to use; the key itself is in no page.
export interface ReaderNumber {
  waba_id: string;
  phone_number_id: string;
  name: string;
}

export interface Reader {
  numbers: ReaderNumber[];
  /** Which key: `bmgk_…1a2b`. */
  key_hint: string;
  csrf_token: string;
}

interface ListedClient {
  waba_id: string;
  phone_number_id: string;
  phone_number: string;
  display_name: string;
}

/** The most numbers that a list on a page shows. */
const NUMBERS_MAX = 50;

/** The console's API, relative to this page. */
export const api = (path: string): string => `${document.body.dataset['console'] ?? ''}${path}`;

/** Reading the documentation does not keep a session alive. */
const read = async <T>(path: string): Promise<T> => {
  const answer = await fetch(api(path), { headers: { 'x-idle': '1' } });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  return (await answer.json()) as T;
};

async function find(): Promise<Reader | undefined> {
  const { session } = await read<{ session: { csrf_token: string } | null }>('/session/current');
  if (!session) return undefined;
  const [{ settings }, { clients }] = await Promise.all([
    read<{ settings: { key_hint: string } }>('/settings'),
    read<{ clients: ListedClient[] }>(`/v1/clients?limit=${NUMBERS_MAX}`),
  ]);
  const numbers = clients.map(({ display_name, phone_number, ...ids }) => ({
    ...ids,
    name: `${display_name} (+${phone_number})`,
  }));
  return { numbers, key_hint: settings.key_hint, csrf_token: session.csrf_token };
}

let found: Promise<Reader | undefined> | undefined;

/**
 * Undefined without a session, and if the console does not answer: the samples are unchanged then.
 */
export const findReader = (): Promise<Reader | undefined> =>
  (found ??= find().catch(() => undefined));

export const SAMPLE = {
  waba_id: '900000000000001',
  phone_number_id: '800000000000001',
  key: 'bmgk_your_partner_key',
};

/** A sample for the reader's number and key. */
export const fill = (text: string, reader: Reader, number: ReaderNumber | undefined): string =>
  text
    .replaceAll(SAMPLE.waba_id, number?.waba_id ?? SAMPLE.waba_id)
    .replaceAll(SAMPLE.phone_number_id, number?.phone_number_id ?? SAMPLE.phone_number_id)
    .replaceAll(SAMPLE.key, reader.key_hint);
