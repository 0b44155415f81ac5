// Carries two fixes for kafkajs 2.2.4. In both cases a consumer that its group had expelled kept
// reading for ever without committing an offset: after a restart everything was read again, in the
// meantime perhaps beside the new owner of its partitions.
//
// It measures the time since the last heartbeat with the wall clock: after a step back it sent no
// heartbeat until the clock had caught up.
//
// A consumer that learns that it is no longer a member gives up its member id and joins again. If
// that failed, because the coordinator was loading, it read on, and without an id it sent no
// heartbeat, so that it never learned of it again.
import { KafkaJSProtocolError } from 'kafkajs';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup';

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
