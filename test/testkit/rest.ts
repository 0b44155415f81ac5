// What both kinds of mesh share: the emulator's seed, and a REST call.
export interface Answer {
  status: number;
  headers: Headers;
  body: any; // any: tests look into whatever was answered
}

export interface SeededNumber {
  waba_id: string;
  phone_number_id: string;
  access_token: string;
}

/** The emulator's seed: an account with one number, and one with two. */
export const ONE: SeededNumber = {
  waba_id: '900000000000001',
  phone_number_id: '800000000000001',
  access_token: 'EMULATED-TOKEN-1',
};
export const TWO_A: SeededNumber = {
  waba_id: '900000000000002',
  phone_number_id: '800000000000002',
  access_token: 'EMULATED-TOKEN-2',
};
export const TWO_B: SeededNumber = { ...TWO_A, phone_number_id: '800000000000003' };

/** One REST call; the body is what JSON makes of it, null for none. */
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
