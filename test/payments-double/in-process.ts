// The double without a socket: what the processor's client library would send goes straight to the core. For
// tests that need thousands of requests.
import { AnswerLost, type PaymentsCore } from './core';
import { parseParams } from './params';

/** What the client library wants of a transport. */
export function inProcess(core: PaymentsCore, onRequest: () => void = () => undefined) {
  return {
    getClientName: () => 'in-process',
    async makeRequest(
      _host: string,
      _port: string,
      url: string,
      method: string,
      headers: object,
      data: string,
    ) {
      onRequest();
      const [path = '', query = ''] = url.split('?', 2);
      const key = (headers as Record<string, string>)['Idempotency-Key'];
      const params = parseParams(method === 'POST' ? data : query);
      let answer;
      try {
        answer = core.handle({ method, path, params, idempotency_key: key });
      } catch (error) {
        if (error instanceof AnswerLost) throw Object.assign(error, { code: 'ETIMEDOUT' });
        throw error;
      }
      // The work is done: a crash may still come before the answer is seen.
      onRequest();
      const { status, body } = answer;
      return {
        getStatusCode: () => status,
        getHeaders: () => ({ 'request-id': 'req_test' }),
        getRawResponse: () => ({}),
        toStream: () => undefined,
        toJSON: async () => JSON.parse(JSON.stringify(body)) as unknown,
      };
    },
  };
}
