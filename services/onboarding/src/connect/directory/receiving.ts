// Which of the active clients of a number or account receive its events now. A client whose access
// was withdrawn stays active for its partner, but its events stop until the partner onboards it again.
import type { Client } from '../../ground/clients';

/** A client with a dead token receives events until another partner onboards the number. */
export function receivingClients(rows: Client[], now: Date): Client[] {
  const granted = rows.filter(({ withdrawn_at }) => !withdrawn_at);
  const holders = granted.filter((row) => !hasDeadToken(row, now));
  return granted.filter((row) => {
    const isReplaced = (holder: Client): boolean =>
      holder.phone_number_id === row.phone_number_id && onboardedAt(holder) > onboardedAt(row);
    return !hasDeadToken(row, now) || !holders.some(isReplaced);
  });
}

const hasDeadToken = ({ token_expires_at }: Client, now: Date): boolean =>
  !!token_expires_at && token_expires_at <= now;

const onboardedAt = ({ known_since, registered_at }: Client): Date => known_since ?? registered_at;
