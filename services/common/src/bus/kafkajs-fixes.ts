// Carries fixes for kafkajs 2.2.4: two of consumer groups, and two of idle connections.
import { KafkaJSProtocolError } from 'kafkajs';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup';
import RequestQueue from 'kafkajs/src/network/requestQueue';

// In both cases a consumer that its group had expelled kept reading for ever without committing an
// offset: after a restart everything was read again, in the meantime perhaps beside the new owner
// of its partitions.
//
// It measures the time since the last heartbeat with the wall clock: after a step back it sent no
// heartbeat until the clock had caught up.
//
// A consumer that learns that it is no longer a member gives up its member id and joins again. If
// that failed, because the coordinator was loading, it read on, and without an id it sent no
// heartbeat, so that it never learned of it again.
const { heartbeat } = ConsumerGroup.prototype;

ConsumerGroup.prototype.heartbeat = async function (this: ConsumerGroup, options) {
  if (this.memberId === null) throw notAMember();
  if (this.lastRequest > Date.now()) this.lastRequest = 0;
  await heartbeat.call(this, options);
};

/** The coordinator's own answer to a heartbeat of such a consumer, which makes it join again. */
const notAMember = (): KafkaJSProtocolError =>
  new KafkaJSProtocolError(
    Object.assign(new Error('The consumer is not a member of its group'), {
      type: 'UNKNOWN_MEMBER_ID',
      code: 25,
      retriable: false,
    }),
  );

// Idle connections wake up the process.
//
// After its first response a connection checks every millisecond, for as long as it lives, whether
// a request waits to be sent (its issues 1556 and 1704). It need only check while one waits: a
// response or a timeout, which makes room for a request, checks at once.
//
// Every connection checks ten times a second for timed-out requests, and a service with four topics
// has ten connections. One timer checks all of them, once a second.
const { scheduleCheckPendingRequests, destroy } = RequestQueue.prototype;

/** Short compared to the request timeout, which is at least ten seconds. */
const LOOK_EVERY_MS = 1_000;
const open = new Set<RequestQueue>();
let timer: NodeJS.Timeout | undefined;

RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
};

RequestQueue.prototype.scheduleRequestTimeoutCheck = function (this: RequestQueue) {
  if (!this.enforceRequestTimeout) return;
  open.add(this);
  timer ??= setInterval(lookForTimeouts, LOOK_EVERY_MS).unref();
};

RequestQueue.prototype.destroy = function (this: RequestQueue) {
  destroy.call(this);
  if (!open.delete(this) || open.size > 0) return;
  clearInterval(timer);
  timer = undefined;
};

function lookForTimeouts(): void {
  for (const queue of open) {
    const { inflight } = queue;
    for (const request of inflight.values()) {
      if (Date.now() - request.sentAt > request.requestTimeout) request.timeoutRequest();
    }
    if (!queue.isConnected()) queue.destroy();
  }
}
