// Sends one marked contact through the messaging service and acts on the answer. A contact that was
// marked and has no outcome is sent again only once messaging has settled that it was not sent
// (doubtful-sends.ts).
import { metrics, startSpan } from '@bmg/common/telemetry';
import type { ActiveBroadcast, ContactSend } from './active-broadcast';
import type { RunnerDependencies } from './dependencies';
import { outcomeOf, retryDelayMs, type Outcome } from './outcome';
import type { OutcomeRecorder } from './outcome-recorder';
import { requestId } from '../ground/request-id';

interface SenderEvents {
  /** Neither messaging nor the upstream could be reached. */
  unreachable(): void;
  /** The upstream answered, whatever the answer. */
  answered(): void;
  /** The broadcast may send nothing more. */
  broadcastStopped(): void;
  /** A contact is in doubt. */
  contactsChanged(): void;
}

/** Longer than the timeout that the messaging service sets for the upstream. */
const SEND_LIMIT_MS = 20_000;
const LOG_UNKNOWN_EVERY_MS = 1_000;

export class ContactSender {
  private unknownLoggedAt = 0;

  constructor(
    private readonly deps: RunnerDependencies,
    private readonly recorder: OutcomeRecorder,
    private readonly events: SenderEvents,
  ) {}

  /** Resolves once the outcome is recorded. The contact must be marked. */
  async send(contact: ContactSend): Promise<void> {
    const { broadcast, chunk, index } = contact;
    const span = startSpan('broadcast contact');
    try {
      await this.deps.messaging.sendClaimedMessage(broadcast.request(contact), {
        deadline: Date.now() + SEND_LIMIT_MS,
        span: span.spanContext(),
        request_id: requestId({ chunk_id: chunk.id, index, salt: chunk.salt }),
      });
    } catch (error) {
      const outcome = outcomeOf(error);
      if (outcome.kind === 'unknown') this.logUnknown(error, broadcast);
      if (outcome.kind !== 'retry' || outcome.reason !== 'unreachable') this.events.answered();
      return this.handleFailure(contact, outcome);
    } finally {
      span.end();
    }
    this.events.answered();
    return this.recorder.record(contact, { event: 'sent' });
  }

  private async handleFailure(contact: ContactSend, outcome: Outcome): Promise<void> {
    switch (outcome.kind) {
      case 'unknown':
        contact.chunk.markInDoubt(contact.index, Date.now() + this.deps.settings.grace_ms, true);
        return this.events.contactsChanged();
      case 'refused':
        return this.recorder.recordRefusal(contact, outcome.code);
      case 'stop':
        return this.stopBroadcast(contact, outcome);
      case 'retry':
        return this.retryLater(contact, outcome);
    }
  }

  private async stopBroadcast(
    contact: ContactSend,
    { code, message }: Extract<Outcome, { kind: 'stop' }>,
  ): Promise<void> {
    const { broadcast } = contact;
    // Other sends in flight fail with the same error: the first one stores the reason.
    if (!broadcast.stop) {
      broadcast.stop = { code, message };
      await this.recorder.retry(() => this.deps.broadcasts.stop(broadcast.id, { code, message }));
    }
    await this.recorder.recordRefusal(contact, code);
    this.events.broadcastStopped();
  }

  private async retryLater(
    contact: ContactSend,
    outcome: Extract<Outcome, { kind: 'retry' }>,
  ): Promise<void> {
    const { broadcast, chunk, index } = contact;
    const delay = retryDelayMs(outcome, chunk.countRefusal(index));
    if (delay === undefined) return this.recorder.recordRefusal(contact, outcome.code);
    if (outcome.reason === 'throttled') {
      await this.deps.pace.slowDown(broadcast.stored.phone_number_id);
    }
    if (outcome.reason === 'unreachable') this.events.unreachable();
    metrics.broadcast_sends.inc({ outcome: `retry_${outcome.reason}` });
    await this.recorder.postpone(contact, Date.now() + delay);
  }

  /** At most one line a second: one outage leaves many sends in doubt. */
  private logUnknown(error: unknown, { logged }: ActiveBroadcast): void {
    if (Date.now() - this.unknownLoggedAt < LOG_UNKNOWN_EVERY_MS) return;
    this.unknownLoggedAt = Date.now();
    this.deps.log.warn({ err: error, ...logged }, 'the outcome of a send is unknown');
  }
}
