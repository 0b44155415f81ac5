// Requests of many MiB, such as broadcasts to 10,000 contacts. Decoded and handled they take several
// times their size, so two are decoded and handled at a time, of different partners: one whose handling
// waits for the upstream holds up only its own partner. The others wait as bytes, with a share for each
// partner.
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { ApiError } from '../errors';
import { createPool } from '../overload';
import type { Logger } from '../telemetry';
import type { Codec } from './definition';

const MIB = 1024 * 1024;
/** Smaller requests do not wait. */
export const LARGE_BYTES = MIB;
const HANDLED_MAX = 2;
/** Waiting bytes of all partners, and one partner's share: enough for its largest request. */
const WAITING = { max: 72 * MIB, share: 1 / 3 };

export type LargeRequests = ReturnType<typeof createLargeRequests>;

export function createLargeRequests(log: Logger) {
  const waiting = createPool(
    { server: 'grpc', reason: 'large_requests', holder: 'partner', ...WAITING },
    log,
  );
  /** The partners whose requests are handled. */
  const handled = new Set<string>();
  /** In order of arrival. */
  const queue: Array<{ partner_id: string; start(): void }> = [];
  const startNext = (): void => {
    if (handled.size >= HANDLED_MAX) return;
    const next = queue.findIndex(({ partner_id }) => !handled.has(partner_id));
    const [found] = next < 0 ? [] : queue.splice(next, 1);
    if (!found) return;
    handled.add(found.partner_id);
    found.start();
  };
  return {
    /** Decodes the request and handles it in its turn. Throws if too many wait, or it is late. */
    async handle<T>(
      request: Uint8Array,
      codec: Codec<unknown>,
      deadline: number,
      handler: (request: unknown) => Promise<T>,
    ): Promise<T> {
      const { length } = request;
      const partner_id = partnerOf(request, codec);
      if (!waiting.take(partner_id, length)) throw refusal();
      try {
        await new Promise<void>((start) => {
          queue.push({ partner_id, start });
          startNext();
        });
        if (Date.now() >= deadline) throw refusal();
        return await handler(codec.decode(request));
      } finally {
        waiting.give(partner_id, length);
        handled.delete(partner_id);
        startNext();
      }
    },
  };
}

const refusal = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'too many large requests are in flight: try again', {
    retryable: true,
  });

const FIRST_FIELD = 10;

/** Reads the partner from the first field, the target or the partner. Only that field is decoded. */
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
