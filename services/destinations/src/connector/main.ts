// A connector: the process that holds the connections to the servers of one partner. It parses what
// hostile servers send, so it has no environment, no credentials but those of its requests, and
// ends when the service closes its input.
import { Socket } from 'node:net';
import { ConnectorReply, ConnectorRequest, type SendOutcome } from '@bmg/proto/destinations';
import { frameOf, readFrames, REQUEST_MAX_BYTES } from '../connectors/frames';
import type { Sent } from '../kinds/destination';
import { createConnections } from './connections';

const REPLIES_FD = 3;
/** 500 outcomes with such texts fit into the longest frame. */
const ERROR_MAX_LENGTH = 100;

const connections = createConnections({ allowPrivate: process.argv.includes('--allow-private') });
const replies = new Socket({ fd: REPLIES_FD, readable: false, writable: true });

const outcomeOf = (sent: Sent): SendOutcome =>
  sent.ok
    ? { is_stored: true, error: '', is_permanent: false }
    : {
        is_stored: false,
        error: sent.error.slice(0, ERROR_MAX_LENGTH),
        is_permanent: sent.permanent,
      };

async function replyTo({ call, send, check }: ConnectorRequest): Promise<ConnectorReply> {
  if (send) {
    return ConnectorReply.fromPartial({
      call,
      outcomes: (await connections.send(send)).map(outcomeOf),
    });
  }
  if (check) {
    const { sent, fault } = await connections.check(check);
    return ConnectorReply.fromPartial({
      call,
      ...(sent && { outcomes: [outcomeOf(sent)] }),
      ...(fault && { fault }),
    });
  }
  return ConnectorReply.fromPartial({ call });
}

readFrames(
  process.stdin,
  REQUEST_MAX_BYTES,
  (bytes) => {
    void replyTo(ConnectorRequest.decode(bytes)).then((reply) =>
      replies.write(frameOf(ConnectorReply.encode(reply).finish())),
    );
  },
  () => process.exit(1),
);
process.stdin.once('end', () => {
  void connections.close().finally(() => process.exit(0));
});
