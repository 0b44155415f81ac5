import type { Call } from '@bmg/common/rpc';

/** A call with a minute left, as a handler receives it. */
export const aCall = (over: Partial<Call> = {}): Call => ({
  deadline: Date.now() + 60_000,
  span: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 0 },
  request_id: 'r1',
  ...over,
});
