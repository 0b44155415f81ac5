// Carries a fix for kafkajs 2.2.4, which measures the time since the last heartbeat with the wall
// clock. After a step back a consumer sent no heartbeat until the clock had caught up: the group
// expelled it, and it kept reading without committing an offset.
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup';

const { heartbeat } = ConsumerGroup.prototype;

ConsumerGroup.prototype.heartbeat = function (this: ConsumerGroup, options) {
  if (this.lastRequest > Date.now()) this.lastRequest = 0;
  return heartbeat.call(this, options);
};
