// Splits what a server sends into frames, so that a client library reads complete and checked ones
// only.
import type { Inspect } from '@bmg/common/outbound';

export interface FrameRules {
  head_bytes: number;
  /** Returns the length of the frame with this head. Throws ProtocolBroken. */
  sizeOf(head: Buffer): number;
  /** Throws ProtocolBroken. */
  check(frame: Buffer): void;
}

/** The state of one connection. */
export function createFrames({ head_bytes, sizeOf, check }: FrameRules): Inspect {
  const head = Buffer.alloc(head_bytes);
  let frame: Buffer | undefined;
  /** Received bytes of the head, then of the frame with its head. */
  let filled = 0;
  return (bytes) => {
    const complete: Buffer[] = [];
    let at = 0;
    while (at < bytes.length) {
      const part = frame ?? head;
      const copied = bytes.copy(part, filled, at);
      filled += copied;
      at += copied;
      if (filled < part.length) break;
      if (frame === undefined) {
        frame = Buffer.allocUnsafe(sizeOf(head));
        head.copy(frame);
        continue;
      }
      check(frame);
      complete.push(frame);
      frame = undefined;
      filled = 0;
    }
    return complete.length === 1 ? (complete[0] as Buffer) : Buffer.concat(complete);
  };
}
