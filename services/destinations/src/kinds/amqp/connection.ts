// A connection to an AMQP server with a channel for confirmed messages, through the guard.
import type { AmqpSettings } from '@bmg/common/destinations';
import { guardedSocketOptions } from '@bmg/common/outbound';
import type { ChannelModel, ConfirmChannel, SocketOptions } from 'amqplib';
import { SendFailed, within, type DestinationGuard, type Times } from '../destination';
import { createAmqpGuard, FRAME_MAX_BYTES, type AmqpGuard } from './guard';

const PORT_TLS = 5671;
const PORT_PLAIN = 5672;
const HEARTBEAT_S = 10;

export interface Connection {
  channel: ConfirmChannel;
  frames: AmqpGuard;
  /** The last error of the channel or the connection; it explains unconfirmed messages. */
  fault: unknown;
  /** Message ids that reached no queue; RabbitMQ returns a message before it confirms it. */
  returned: Map<string, number>;
  /** Destroys the socket. */
  end(): void;
  /** Closes the connection gracefully, within a time limit. */
  close(): Promise<void>;
}

/** Rejects after some seconds, and leaves no socket then. */
export async function openConnection(
  { host, port, tls, ca, vhost, username, password }: AmqpSettings,
  guard: DestinationGuard,
  { open_ms, close_ms }: Times,
): Promise<Connection> {
  const { connect } = await import('amqplib');
  const target = { host, port: port ?? (tls ? PORT_TLS : PORT_PLAIN), tls };
  const frames = createAmqpGuard();
  // amqplib opens its socket itself and exports no other way in, so that the frames are inspected
  // by an option of the socket.
  const options = guardedSocketOptions(target, {
    ...guard,
    ...(ca !== undefined && { ca }),
    inspect: frames.inspect,
  });
  // Destroys the socket: an opening handshake has no other end, and a closing one waits for the
  // server.
  const abort = new AbortController();
  // It passes all of them to net.connect or tls.connect; its type lists only some.
  const socketOptions = {
    ...options,
    signal: abort.signal,
    clientProperties: { connection_name: 'business-messaging-gateway' },
  } as SocketOptions;
  const connecting = connect(
    {
      protocol: tls ? 'amqps' : 'amqp',
      hostname: options.host ?? host,
      port: target.port,
      username,
      password,
      vhost: encodeURIComponent(vhost),
      heartbeat: HEARTBEAT_S,
      frameMax: FRAME_MAX_BYTES,
      maxFrameSize: FRAME_MAX_BYTES,
    },
    socketOptions,
  );
  // An error of the connection would end the process if it had no listener.
  const model = connecting.then((one) => {
    one.on('error', () => undefined);
    frames.onOpen();
    return one;
  });
  try {
    return await within(
      model.then((one) => openChannel(one, frames, abort, close_ms)),
      open_ms,
    );
  } catch (error) {
    abort.abort();
    throw error;
  }
}

async function openChannel(
  model: ChannelModel,
  frames: AmqpGuard,
  abort: AbortController,
  close_ms: number,
): Promise<Connection> {
  // The listeners run as soon as the connection breaks, which may be before the channel is open.
  const state: Pick<Connection, 'fault' | 'returned'> = {
    fault: null,
    returned: new Map(),
  };
  const fault = (error: unknown): void => {
    state.fault ??= error;
  };
  const broken = new Promise<never>((_resolve, reject) => {
    model.once('close', () => reject(new SendFailed('reset')));
  });
  broken.catch(fault);
  model.on('error', fault);
  // amqplib leaves the promise of a channel open if the connection ends before the channel
  // confirms.
  const channel = await Promise.race([model.createConfirmChannel(), broken]).catch((error) => {
    throw state.fault ?? error;
  });
  channel.on('error', fault);
  channel.on('return', ({ properties }) => {
    const id = String(properties.messageId);
    state.returned.set(id, (state.returned.get(id) ?? 0) + 1);
  });
  return Object.assign(state, {
    channel,
    frames,
    end: () => abort.abort(),
    async close() {
      await within(model.close(), close_ms).catch(() => undefined);
      abort.abort();
    },
  });
}
