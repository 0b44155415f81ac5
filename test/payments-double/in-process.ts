// A transport for the processor's client library that calls the double directly, without a socket,
// for tests that need thousands of requests.
import { AnswerLost, parseParams, type PaymentsCore } from './core';

/** Implements the client library's transport interface. */
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
      // The work is done: tests crash the caller here, before it sees the answer.
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
