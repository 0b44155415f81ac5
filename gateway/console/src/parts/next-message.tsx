// What a message would do and cost, before it is sent: POST /messages/check.
import { Alert, List } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { messageCheckQuery } from '../api/queries';
import type { Client, MessageCheck } from '../api/types';
import { TYPING_MS } from './filters';
import { Facts, Hint } from './layout';
import { Time } from './values';

interface NextMessageProps {
  client: Client;
  to: string;
  /** The fields of the send beside `to`. */
  kind: 'text' | 'template';
  body: object;
}

/** Follows the form once typing pauses. Nothing is shown without a recipient. */
export function NextMessage({ client, to, kind, body }: NextMessageProps) {
  const wanted = JSON.stringify({ kind, to: to.trim(), ...body });
  const [settled] = useDebouncedValue(wanted, TYPING_MS);
  const query = useQuery({
    ...messageCheckQuery(client, settled),
    enabled: to.trim() !== '',
    placeholderData: (before) => before,
  });
  // The send reports its own errors: a failed check must not block it.
  if (!query.data || to.trim() === '') return null;
  return <Outlook check={query.data} />;
}

const WINDOWS = { open: 'open', closed: 'closed', unknown: 'not known' } as const;

const Outlook = ({ check: { deliverable, reasons, window, price } }: { check: MessageCheck }) => (
  <div data-testid="next-message" role="status">
    <Facts
      of={[
        ['Price', price && priceOf(price)],
        ['Why', price?.why],
        [
          'Customer service window',
          window && (
            <>
              {WINDOWS[window.state]}
              {window.until && (
                <>
                  {' until '}
                  <Time value={window.until} as="exact" />
                </>
              )}
            </>
          ),
        ],
      ]}
    />
    {deliverable === 'no' && (
      <Alert color="red" variant="light" title="It would not be delivered" mt="xs">
        <List size="sm">
          {reasons
            .filter(({ effect }) => effect === 'no')
            .map(({ code, message, fix }, at) => (
              <List.Item key={`${code}/${at}`}>{`${message}. ${fix}`}</List.Item>
            ))}
        </List>
      </Alert>
    )}
    {deliverable === 'unknown' && (
      <Hint>Whether it can be delivered is not known before it is sent.</Hint>
    )}
  </div>
);

function priceOf({
  billable,
  unit_price,
  currency,
  category,
  unit_price_reason,
}: NonNullable<MessageCheck['price']>): string {
  if (billable === false) return `free (${category})`;
  const amount =
    unit_price === null
      ? `not known: ${unit_price_reason ?? 'there is no rate'}`
      : `${unit_price} ${currency ?? ''} (${category})`;
  return billable === null ? `free, or ${amount}` : amount;
}
