// A handler can hold its reply's resources until the transport has taken it: `signal` marks that.
import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import { ListEventsRequest, ListEventsResponse, EventLogDefinition } from '@bmg/proto/webhooks';
import { eventually } from '../../../../test/testkit/eventually';
import { HOST, useRpc } from '../../test/rpc';
import type { Call } from '.';

const ENVELOPE = 'x'.repeat(1024 * 1024);

const { serve } = useRpc();

/** A message in the frame of gRPC. */
function framed(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

test('the signal of a call is aborted only once its reply was taken', async () => {
  const calls: Call[] = [];
  const listEvents = async (_request: unknown, call: Call) => {
    calls.push(call);
    return ListEventsResponse.fromPartial({ events: [{ envelope: ENVELOPE }] });
  };
  const { port } = await serve(EventLogDefinition, { listEvents });
  const session = connect(`http://${HOST}:${port}`);
  const request = session.request({
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: `/${EventLogDefinition.fullName}/ListEvents`,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  request.end(framed(ListEventsRequest.encode(ListEventsRequest.fromPartial({})).finish()));
  await once(request, 'response');
  const { signal } = calls[0] as Call;
  // Time enough to abort the call by mistake: no event marks that it was not.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(signal?.aborted).toBe(false);
  request.resume();
  await eventually(() => signal?.aborted);
  session.close();
});
