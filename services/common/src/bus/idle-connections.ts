// Carries two fixes for kafkajs 2.2.4, whose connections wake up their process without a request.
//
// After its first answer a connection looks every millisecond, for as long as it lives, whether a request
// waits to be sent (its issues 1556 and 1704). It need only look while one waits: what makes room for a
// request, an answer or a time-out, looks at once.
//
// Every connection looks ten times a second for requests that have timed out, which a service with four
// topics does with ten connections. One timer looks for all of them, every second.
import RequestQueue from 'kafkajs/src/network/requestQueue';

const { scheduleCheckPendingRequests, destroy } = RequestQueue.prototype;

/** Small beside the time-out of a request, which is at least ten seconds. */
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
