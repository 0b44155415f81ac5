// Carries a fix for kafkajs 2.2.4 (its issues 1556 and 1704): after its first answer, a connection looks
// every millisecond, for as long as it lives, whether a request waits to be sent. Idle services took
// several times the CPU for it. It need only look while one waits: what makes room for a request, an
// answer or a time-out, looks at once.
import RequestQueue from 'kafkajs/src/network/requestQueue';

const { scheduleCheckPendingRequests } = RequestQueue.prototype;

RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
};
