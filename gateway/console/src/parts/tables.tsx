// Tables that are whole in the page.
import { Table, Text, type TableProps } from '@mantine/core';
import type { ReactNode } from 'react';
import type { LedgerAmounts } from '../api/types';
import { sumOf } from '../money';
import { countOf } from '../period';

export interface TableColumn<T> {
  title: string;
  cell: (row: T) => ReactNode;
  /** Aligned at the end, as figures are compared. */
  figure?: boolean;
}

interface DataTableProps<T> extends Pick<TableProps, 'aria-label' | 'horizontalSpacing'> {
  columns: ReadonlyArray<TableColumn<T>>;
  rows: readonly T[];
  keyOf: (row: T, at: number) => string;
  /** The table scrolls in a narrower window. */
  min_width?: number;
  /** Stands for a table without rows. */
  empty?: string;
}

export function DataTable<T>(props: DataTableProps<T>) {
  const { columns, rows, keyOf, min_width, empty, ...others } = props;
  if (rows.length === 0 && empty) return <Text size="sm">{empty}</Text>;
  const table = (
    <Table {...others}>
      <Table.Thead>
        <Table.Tr>
          {columns.map(({ title, figure }) => (
            <Table.Th key={title} ta={figure ? 'right' : 'left'}>
              {title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row, at) => (
          <Table.Tr key={keyOf(row, at)}>
            {columns.map(({ title, figure, cell }) => (
              <Table.Td key={title} ta={figure ? 'right' : 'left'}>
                {cell(row)}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
  if (min_width === undefined) return table;
  return (
    <Table.ScrollContainer
      minWidth={min_width}
      scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
    >
      {table}
    </Table.ScrollContainer>
  );
}

interface AmountsProps {
  /** The title of the first column. */
  head: string;
  label?: string;
  /** Stands for a name that is null. */
  unknown: string;
  rows: Array<LedgerAmounts & { name: string | null }>;
}

/** Amounts of the ledger: how many of the messages are charged, and what they cost. */
export const Amounts = ({ head, label, unknown, rows }: AmountsProps) => (
  <DataTable
    aria-label={label}
    horizontalSpacing="xs"
    rows={rows}
    keyOf={({ name }) => name ?? ''}
    columns={[
      { title: head, cell: ({ name }) => name ?? unknown },
      {
        title: 'Charged',
        cell: ({ charged, messages }) => `${countOf(charged)} of ${countOf(messages)}`,
        figure: true,
      },
      { title: 'Amount', cell: sumOf, figure: true },
    ]}
  />
);
