// A stub upstream for tests: gives the configured answers in order and records the requests.
import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';

export interface SentRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  /** Parsed; undefined without one. */
  body: unknown;
}

export type Answer = object | { status: number; body: object | string } | 'hang';

export function createUpstreamStub() {
  let waiting: Answer[] = [];
  const stub = {
    asked: [] as SentRequest[],
    /** The bodies as received. */
    raw: [] as string[],
    tokens: [] as Array<string | undefined>,
    /** Sets the answers to the next requests, in order, and clears the records. */
    answers(...answers: Answer[]): void {
      waiting = answers;
      stub.asked.length = stub.raw.length = stub.tokens.length = 0;
    },
  };
  const listener: RequestListener = (request, response) => {
    void text(request).then((raw) => {
      const url = new URL(request.url ?? '/', 'http://upstream');
      stub.asked.push({
        method: request.method ?? '',
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        body: raw === '' ? undefined : (JSON.parse(raw) as unknown),
      });
      stub.raw.push(raw);
      stub.tokens.push(request.headers.authorization);
      const answer = waiting.shift() ?? { status: 500, body: 'the stub has no answer left' };
      if (answer === 'hang') return;
      const { status, body } =
        'status' in answer && typeof answer.status === 'number' && 'body' in answer
          ? (answer as { status: number; body: object | string })
          : { status: 200, body: answer };
      response.statusCode = status;
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  };
  return Object.assign(stub, { listener });
}

/** An upstream error answer. */
export const upstreamError = (code: number, extra: object = {}, status = 400): Answer => ({
  status,
  body: { error: { message: `(#${code}) refused`, type: 'OAuthException', code, ...extra } },
});
