// Requests of many MiB, such as broadcasts to 10,000 contacts. Decoded and handled they take several
// times their size, so one is decoded and handled at a time. The others wait as bytes, with a share for
// each partner.
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { ApiError } from '../errors';
import { createPool } from '../overload';
import type { Logger } from '../telemetry';
import type { Codec } from './definition';

const MIB = 1024 * 1024;
/** Smaller requests do not wait. */
export const LARGE_BYTES = MIB;
/** A third of them for one partner: its largest request. */
const WAITING = { max: 72 * MIB, share: 1 / 3 };

export interface LargeRequests {
  /** Decodes the request and handles it in its turn. Throws when too many wait, or it waits too long. */
  handle<T>(
    request: Uint8Array,
    codec: Codec<unknown>,
    deadline: number,
    handler: (request: unknown) => Promise<T>,
  ): Promise<T>;
}

export function createLargeRequests(log: Logger): LargeRequests {
  const waiting = createPool(
    { server: 'grpc', reason: 'large_requests', holder: 'partner', ...WAITING },
    log,
  );
  let last: Promise<unknown> = Promise.resolve();
  return {
    async handle(request, codec, deadline, handler) {
      const { length } = request;
      const partner_id = partnerOf(request, codec);
      if (!waiting.take(partner_id, length)) throw refusal();
      const turn = last.then(() => {
        if (Date.now() >= deadline) throw refusal();
        return handler(codec.decode(request));
      });
      last = turn.then(noop, noop);
      try {
        return await turn;
      } finally {
        waiting.give(partner_id, length);
      }
    },
  };
}

const noop = (): void => undefined;

const refusal = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'too many large requests are in flight: try again', {
    retryable: true,
  });

const FIRST_FIELD = 10;

/** Of the first field, which is the target or the partner. Only that field is decoded. */
function partnerOf(request: Uint8Array, codec: Codec<unknown>): string {
  const reader = new BinaryReader(request);
  if (reader.uint32() !== FIRST_FIELD) return '';
  const length = reader.uint32();
  const first = codec.decode(request.subarray(0, reader.pos + length)) as {
    target?: { partner_id: string };
    partner_id?: string;
  };
  return first.target?.partner_id ?? first.partner_id ?? '';
}
