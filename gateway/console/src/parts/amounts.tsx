// Rows of the ledger's amounts: how many of the messages are charged, and what they cost.
import { Table } from '@mantine/core';
import type { LedgerAmounts } from '../api/types';
import { sumOf } from '../money';
import { countOf } from '../period';

interface AmountsProps {
  /** The title of the first column. */
  head: string;
  label?: string;
  /** Stands for a name that is null. */
  unknown: string;
  rows: Array<LedgerAmounts & { name: string | null }>;
}

export const Amounts = ({ head, label, unknown, rows }: AmountsProps) => (
  <Table aria-label={label} horizontalSpacing="xs">
    <Table.Thead>
      <Table.Tr>
        {[head, 'Charged', 'Amount'].map((title, at) => (
          <Table.Th key={title} ta={at === 0 ? 'left' : 'right'}>
            {title}
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {rows.map((row) => (
        <Table.Tr key={row.name ?? ''}>
          <Table.Td>{row.name ?? unknown}</Table.Td>
          <Table.Td ta="right">
            {countOf(row.charged)} of {countOf(row.messages)}
          </Table.Td>
          <Table.Td ta="right">{sumOf(row)}</Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
);
