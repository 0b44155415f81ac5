// A partner's receiver: records each event with its own answer, verifies the signature, and fails
// on demand.
import type { ServerResponse } from 'node:http';
import { isStandardSigned, startPartner } from '../testkit/partner';
import { eventKey, type Arrival } from './history';

export interface Receiver {
  url: string;
  /** Takes over the answers; undefined accepts every event again. */
  behave(misbehave: ((response: ServerResponse) => void) | undefined): void;
  close(): Promise<void>;
}

/** `secrets` are those that the partner has had so far. */
export async function startReceiver(
  partner: string,
  {
    secrets,
    arrivals,
    now,
    host,
  }: { secrets: string[]; arrivals: Arrival[]; now: () => number; host?: string },
): Promise<Receiver> {
  const server = await startPartner({ host });
  let misbehave: ((response: ServerResponse) => void) | undefined;
  server.behave((got, response) => {
    const arrival: Arrival = {
      partner,
      at_ms: now(),
      event_id: String(got.headers['webhook-id']),
      event: eventKey(got.body.event, got.body.data['message_id']),
      waba_id: got.body.waba_id,
      answered: 0,
      is_signed: secrets.some((secret) => isStandardSigned(got, secret)),
    };
    arrivals.push(arrival);
    // An hour of arrivals is too much to keep: only the records are kept.
    server.arrivals.length = 0;
    response.on('finish', () => (arrival.answered = response.statusCode));
    if (misbehave) misbehave(response);
    else response.end('ok');
  });
  return {
    url: server.url,
    behave: (next) => void (misbehave = next),
    close: () => server.close(),
  };
}
