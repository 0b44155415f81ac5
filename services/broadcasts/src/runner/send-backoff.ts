// Pauses a number's sends while messaging, the upstream or the store is unreachable: twice as long
// each time.
const FIRST_MS = 250;
const MAX_MS = 5_000;

export class SendBackoff {
  private until = 0;
  private next_ms = FIRST_MS;

  /** Starts a pause, unless one is running: an outage fails many sends but counts once. */
  start(): void {
    const now = Date.now();
    if (this.until > now) return;
    this.until = now + this.next_ms;
    this.next_ms = Math.min(MAX_MS, this.next_ms * 2);
  }

  /** An answer arrived: the next pause is short again. */
  reset(): void {
    this.next_ms = FIRST_MS;
  }

  remainingMs(): number {
    return Math.max(0, this.until - Date.now());
  }
}
