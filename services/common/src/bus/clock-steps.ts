// Carries a fix for kafkajs 2.2.4: it measures the time since the last heartbeat with the wall clock. After
// a step back a consumer sent none until the clock had caught up: its group expelled it, and it read on
// without committing an offset.
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup';

const { heartbeat } = ConsumerGroup.prototype;

ConsumerGroup.prototype.heartbeat = function (this: ConsumerGroup, options) {
  if (this.lastRequest > Date.now()) this.lastRequest = 0;
  return heartbeat.call(this, options);
};
