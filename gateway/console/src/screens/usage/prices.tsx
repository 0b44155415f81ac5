// Prices of messages by country, category and day, from the operator's rate card.
import { Group, Select, Table, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { pricesQuery } from '../../api/queries';
import type { ListedPrice, PriceList } from '../../api/types';
import { Card } from '../../parts/card';
import { Empty } from '../../parts/empty';
import { Loaded } from '../../parts/loaded';
import { Page } from '../../parts/page';
import { useFilters, useTyped } from '../../parts/search';
import { dayInWords } from '../../period';

const CATEGORIES = [
  'marketing',
  'utility',
  'authentication',
  'authentication_international',
  'service',
];
/** The price comes early: on a phone the rest is reached by scrolling. */
const HEAD = ['Market', 'Price', 'Category', 'In an open window', 'Messages of the month', 'Since'];
const PRICE_COLUMN = 1;

export function Screen() {
  const [{ country, category, day }] = useFilters();
  const query = useQuery({
    ...pricesQuery({ country, category, date: day }),
    placeholderData: (before) => before,
  });
  return (
    <Page
      title="Prices"
      description="What one message costs, at the operator’s rates. The market follows from the country code of the recipient."
    >
      <Filters />
      <Loaded query={query} what="the prices" lines={8}>
        {(list) => <Prices list={list} />}
      </Loaded>
    </Page>
  );
}

function Filters() {
  const [{ country, category, day }, setFilters] = useFilters();
  const [text, setText] = useTyped(country, (name) => setFilters({ country: name }));
  return (
    <Group gap="sm" align="flex-end" className="filters">
      <TextInput
        label="Country"
        placeholder="BR or Brazil"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Select
        label="Category"
        placeholder="All categories"
        data={CATEGORIES}
        value={category ?? null}
        onChange={(value) => setFilters({ category: value ?? undefined })}
        clearable
        clearButtonProps={{ 'aria-label': 'Show all categories' }}
      />
      <TextInput
        label="Day"
        description="UTC"
        type="date"
        value={day ?? ''}
        onChange={(event) => setFilters({ day: event.currentTarget.value || undefined })}
      />
    </Group>
  );
}

function Prices({ list: { date, currency, prices, reason } }: { list: PriceList }) {
  if (prices.length === 0) {
    return (
      <Card>
        <Empty title="No price was found">{`On ${dayInWords(date)}: ${reason}.`}</Empty>
      </Card>
    );
  }
  return (
    <Card title={`On ${dayInWords(date)}, in ${currency}`}>
      <Table.ScrollContainer minWidth={620} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table aria-label="Prices">
          <Table.Thead>
            <Table.Tr>
              {HEAD.map((title, at) => (
                <Table.Th key={title} ta={at === PRICE_COLUMN ? 'right' : 'left'}>
                  {title}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {prices.map((price) => (
              <Price key={`${price.market}/${price.category}/${price.tier}`} of={price} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="xs" c="dimmed" mt="xs">
        Outside an open window every template is charged. While a free entry point window is open,
        nothing is.
      </Text>
    </Card>
  );
}

const Price = ({ of }: { of: ListedPrice }) => (
  <Table.Tr>
    <Table.Td>{of.market}</Table.Td>
    <Table.Td ta="right">{of.price}</Table.Td>
    <Table.Td>{of.category}</Table.Td>
    <Table.Td>{of.billable_in_window ? 'charged' : 'free'}</Table.Td>
    <Table.Td>{tierInWords(of.tier)}</Table.Td>
    <Table.Td>{dayInWords(of.valid_from)}</Table.Td>
  </Table.Tr>
);

function tierInWords(tier: string): string {
  const [from = '0', to = ''] = tier.split(':');
  if (to === '') return from === '0' ? 'all' : `from ${Number(from).toLocaleString()}`;
  return `${Number(from).toLocaleString()} to ${Number(to).toLocaleString()}`;
}
