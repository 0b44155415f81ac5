// A long list. Only the rows in view are in the page; on a phone each row becomes a small card.
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type CSSProperties,
  type ReactNode,
} from 'react';
import type { TableColumn } from './tables';
import { countOf } from '../period';
import { Time, zoned } from './values';

export interface Column<T> extends TableColumn<T> {
  /** A CSS grid track. */
  width: string;
  /** True for a value that shows what it is: on a phone, the others stand behind their titles. */
  bare?: boolean;
  /**
   * The least width of a list that shows the column beside others. A column that names none is
   * always shown, and what a row opens has the values of all.
   */
  from?: 'middle' | 'wide';
}

export const column = <T,>(
  title: string,
  width: string,
  cell: (row: T) => ReactNode,
  rest: Partial<Column<T>> = {},
): Column<T> => ({ title, width, cell, ...rest });

/** The column of a time; its title has the zone. */
export const timeColumn = <T,>(title: string, at: (row: T) => string | null): Column<T> =>
  column(zoned(title), '130px', (row) => <Time value={at(row)} as="row" />);

/** The column of the distance of a time from now. */
export const agoColumn = <T,>(
  title: string,
  at: (row: T) => string | null,
  rest?: Partial<Column<T>>,
): Column<T> => column(title, '115px', (row) => <Time value={at(row)} as="ago" />, rest);

/** The column of a count; a dash while it is not known. */
export const countColumn = <T,>(
  title: string,
  count: (row: T) => number | null,
  rest?: Partial<Column<T>>,
): Column<T> => column(title, '90px', (row) => countIfAny(count(row)), { figure: true, ...rest });

const countIfAny = (count: number | null): string => (count === null ? '–' : countOf(count));

interface RowsProps<T> {
  /** The name of the list, for screen readers. */
  label: string;
  columns: ReadonlyArray<Column<T>>;
  rows: readonly T[];
  keyOf: (row: T) => string;
  onOpen?: (row: T) => void;
  /** The query of the list, whose next page is read when the end comes into view. */
  paging?: Paging;
  /** Stands for a list without rows. */
  empty?: ReactNode;
}

type Paging = Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>;

/** Reads the next page of a list; undefined if there is none. */
export const nextPageOf = (query: Paging): (() => void) | undefined =>
  query.hasNextPage ? () => void (query.isFetchingNextPage || query.fetchNextPage()) : undefined;

const ROW_PX = 37;

/** The grids of the three widths of a list, for style.css. */
function gridsOf(columns: ReadonlyArray<Column<never>>): CSSProperties {
  const tracks = (hidden: ReadonlyArray<Column<never>['from']>): string =>
    columns
      .filter(({ from }) => !hidden.includes(from))
      .map(({ width }) => width)
      .join(' ');
  return {
    '--columns': tracks([]),
    '--columns-middle': tracks(['wide']),
    '--columns-narrow': tracks(['wide', 'middle']),
  } as CSSProperties;
}

export const Rows = <T,>({ empty, ...list }: RowsProps<T>) =>
  list.rows.length > 0 ? <List {...list} /> : empty;

function List<T>({ label, columns, rows, keyOf, onOpen, paging }: Omit<RowsProps<T>, 'empty'>) {
  const onEnd = paging && nextPageOf(paging);
  const body = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    if (body.current) setOffset(body.current.getBoundingClientRect().top + window.scrollY);
  }, []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PX,
    overscan: 10,
    scrollMargin: offset,
    getItemKey: (index) => keyOf(rows[index] as T),
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (last >= rows.length - 1) onEnd?.();
  }, [last, rows.length, onEnd]);
  return (
    <div
      className="list"
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      style={gridsOf(columns)}
    >
      <div role="rowgroup">
        <div className="list-row list-head" role="row" aria-rowindex={1}>
          {columns.map(({ title, figure, from }) => (
            <div
              key={title}
              role="columnheader"
              data-from={from}
              className={figure ? 'figure' : undefined}
            >
              {title}
            </div>
          ))}
        </div>
      </div>
      <div
        ref={body}
        className="list-body"
        role="rowgroup"
        style={{ height: virtual.getTotalSize() }}
      >
        {items.map(({ key, index, start }) => (
          <Row
            key={key}
            row={rows[index] as T}
            index={index}
            columns={columns}
            measure={virtual.measureElement}
            top={start - offset}
            onOpen={onOpen}
          />
        ))}
      </div>
    </div>
  );
}

interface RowProps<T> {
  row: T;
  index: number;
  columns: ReadonlyArray<Column<T>>;
  measure: (element: Element | null) => void;
  top: number;
  onOpen: ((row: T) => void) | undefined;
}

/** A click anywhere opens the row; the keyboard uses the link or button in its first cell. */
function Row<T>({ row, index, columns, measure, top, onOpen }: RowProps<T>) {
  return (
    <div
      ref={measure}
      data-index={index}
      role="row"
      aria-rowindex={index + 2}
      className={onOpen ? 'list-row opens' : 'list-row'}
      style={{ transform: `translateY(${top}px)` }}
      onClick={(event) => {
        if (!onOpen || (event.target as Element).closest('a, button, input, label')) return;
        // The focus returns there when what opened is closed.
        event.currentTarget.querySelector<HTMLElement>('button.plain')?.focus();
        onOpen(row);
      }}
    >
      {columns.map(({ title, cell, bare, figure, from }, column) => (
        <div
          key={title}
          role="cell"
          data-label={bare || column === 0 ? undefined : title}
          data-from={from}
          className={figure ? 'figure' : undefined}
        >
          {column === 0 && onOpen ? (
            <button type="button" className="plain" onClick={() => onOpen(row)}>
              {cell(row)}
            </button>
          ) : (
            cell(row)
          )}
        </div>
      ))}
    </div>
  );
}
