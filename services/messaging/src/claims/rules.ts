// The rules of claims, one row for each transition, used by the store's filters and the tests. A document
// holds the latest attempt under a request id, claimed or fenced.
export type ClaimState = 'claimed' | 'fenced';

export interface Transition {
  /** Allowed from these states, and without a document. */
  from: readonly ClaimState[];
  /** How the stored attempt compares with the one of the transition. */
  stored: '$lt' | '$lte' | '$eq';
  to: ClaimState;
}

/** Before a send. The caller vouches that no earlier attempt can be sent any more. */
export const CLAIM: Transition = { from: ['claimed', 'fenced'], stored: '$lt', to: 'claimed' };
/** Neither this attempt nor an earlier one is sent any more. Refused once one of them is claimed. */
export const FENCE: Transition = { from: ['fenced'], stored: '$lte', to: 'fenced' };
/** The claimed attempt certainly did not reach the upstream. Never creates a document. */
export const RELEASE: Transition = { from: ['claimed'], stored: '$eq', to: 'fenced' };

export type SendOutcome = 'sent' | 'not_sent' | 'unknown';

/** `recorded`: there is a message record, from the answer or from a status event. It outweighs a fence. */
export function outcomeOf({
  recorded,
  fenced,
}: {
  recorded: boolean;
  fenced: boolean;
}): SendOutcome {
  if (recorded) return 'sent';
  return fenced ? 'not_sent' : 'unknown';
}
