// Shared by both kinds of test mesh: the emulator's seed, and a REST call.
export interface Answer {
  status: number;
  headers: Headers;
  body: any; // any: tests read arbitrary answers
}

export interface SeededNumber {
  waba_id: string;
  phone_number_id: string;
  access_token: string;
}

/** The emulator's seed in a world: an account with one number, and one with two. */
export function seededNumbers(world: number): Record<'ONE' | 'TWO_A' | 'TWO_B', SeededNumber> {
  const id = (kind: 8 | 9, serial: number): string =>
    `${kind}${String(world).padStart(8, '0')}${String(serial).padStart(6, '0')}`;
  const number = (account: number, serial: number): SeededNumber => ({
    waba_id: id(9, account),
    phone_number_id: id(8, serial),
    access_token: `EMULATED-TOKEN-${account}`,
  });
  return { ONE: number(1, 1), TWO_A: number(2, 2), TWO_B: number(2, 3) };
}

/** Makes one REST call; the answer's body is parsed JSON, null when empty. */
export async function callRest(
  base_url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await fetch(base_url + path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    body: text === '' ? null : JSON.parse(text),
  };
}
