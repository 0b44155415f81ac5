// Prices of messages by country, category and day, from the operator's rate card.
import { useQuery } from '@tanstack/react-query';
import { pricesQuery } from '../../api/queries';
import type { ListedPrice, PriceList } from '../../api/types';
import { FilterDay, Filters, FilterSelect, FilterText } from '../../parts/filter-fields';
import { useFilters } from '../../parts/filters';
import { Card, EmptyCard, Hint, Loaded, Page } from '../../parts/layout';
import { DataTable, type TableColumn } from '../../parts/tables';
import { dayInWords } from '../../period';

const CATEGORIES = [
  'marketing',
  'utility',
  'authentication',
  'authentication_international',
  'service',
];
/** The price comes early: on a phone the rest is reached by scrolling. */
const COLUMNS: Array<TableColumn<ListedPrice>> = [
  { title: 'Market', cell: ({ market }) => market },
  { title: 'Price', cell: ({ price }) => price, figure: true },
  { title: 'Category', cell: ({ category }) => category },
  {
    title: 'In an open window',
    cell: ({ billable_in_window }) => (billable_in_window ? 'charged' : 'free'),
  },
  { title: 'Messages of the month', cell: ({ tier }) => tierInWords(tier) },
  { title: 'Since', cell: ({ valid_from }) => dayInWords(valid_from) },
];

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
      <Filters>
        <FilterText name="country" label="Country" placeholder="BR or Brazil" />
        <FilterSelect name="category" label="Category" all="categories" data={CATEGORIES} />
        <FilterDay name="day" label="Day" />
      </Filters>
      <Loaded query={query} what="the prices" lines={8}>
        {(list) => <Prices list={list} />}
      </Loaded>
    </Page>
  );
}

function Prices({ list: { date, currency, prices, reason } }: { list: PriceList }) {
  if (prices.length === 0) {
    return <EmptyCard title="No price was found">{`On ${dayInWords(date)}: ${reason}.`}</EmptyCard>;
  }
  return (
    <Card title={`On ${dayInWords(date)}, in ${currency}`}>
      <DataTable
        aria-label="Prices"
        min_width={620}
        rows={prices}
        keyOf={({ market, category, tier }) => `${market}/${category}/${tier}`}
        columns={COLUMNS}
      />
      <Hint mt="xs">
        Outside an open window every template is charged. While a free entry point window is open,
        nothing is.
      </Hint>
    </Card>
  );
}

function tierInWords(tier: string): string {
  const [from = '0', to = ''] = tier.split(':');
  if (to === '') return from === '0' ? 'all' : `from ${Number(from).toLocaleString()}`;
  return `${Number(from).toLocaleString()} to ${Number(to).toLocaleString()}`;
}
