// Carries two fixes for kafkajs 2.2.4, whose idle connections wake up the process.
//
// After its first response a connection checks every millisecond, for as long as it lives, whether
// a request waits to be sent (its issues 1556 and 1704). It need only check while one waits: a
// response or a timeout, which makes room for a request, checks at once.
//
// Every connection checks ten times a second for timed-out requests, and a service with four topics
// has ten connections. One timer checks all of them, once a second.
import RequestQueue from 'kafkajs/src/network/requestQueue';

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
