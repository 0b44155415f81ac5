// A chart with its legend, the values of the marked point, and the same figures in a table. Amounts
// of days are bars; levels, and what grows over time, are lines.
import { Skeleton, useComputedColorScheme } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { Suspense, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { dayInWords } from '../period';
import { barOf } from './bars';
import type { ChartData, Drawn, Mark } from './plot';
import { DataTable } from './tables';
import { zoned } from './values';

/** How far below the window a chart is loaded. */
const AHEAD = '200px';
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

interface ChartProps extends ChartData {
  /** The chart in one sentence. */
  label: string;
  /** The name of the table. */
  title: string;
}

export function Chart({ label, title, ...data }: ChartProps) {
  const { days, times_ms, series, most, kind } = data;
  const place = useRef<HTMLDivElement>(null);
  const [drawn, setDrawn] = useState<Drawn>();
  const [mark, setMark] = useState<Mark>();
  const scheme = useComputedColorScheme('light');
  const drawn_from = JSON.stringify([kind, days, times_ms, series, most, scheme]);
  useEffect(() => {
    let shown: Drawn | undefined;
    let is_over = false;
    void import('./plot').then(({ draw }) => {
      if (is_over) return;
      shown = draw(place.current as HTMLDivElement, data, setMark);
      setDrawn(shown);
    });
    return () => {
      is_over = true;
      shown?.destroy();
    };
    // Each render has new objects.
  }, [drawn_from]);
  const names = days?.map(dayInWords) ?? times_ms?.map((time) => exact.format(time)) ?? [];
  const press = (event: KeyboardEvent): void => {
    const to = movedTo(event.key, mark?.at, names.length - 1);
    if (to === undefined) return;
    event.preventDefault();
    drawn?.mark(to);
  };
  return (
    <div className="chart">
      {series.length > 1 && (
        <ul className="chart-legend">
          {series.map(({ name, colour, is_before }) => (
            <li key={name} className={is_before ? 'chart-before' : ''} style={barOf(colour)}>
              {name}
            </li>
          ))}
        </ul>
      )}
      <div className="chart-place">
        <div
          ref={place}
          className="chart-plot"
          role="img"
          aria-label={label}
          aria-busy={drawn === undefined}
          tabIndex={0}
          onKeyDown={press}
          onBlur={() => drawn?.mark()}
        />
        <div role="status" className="chart-mark" style={sideOf(mark, place.current)}>
          {mark && (
            <>
              <strong>{names[mark.at]}</strong>
              {series.map((one) => (
                <span key={one.name}>
                  {one.name}: {textOf(one.values[mark.at], data)}
                </span>
              ))}
            </>
          )}
        </div>
      </div>
      <Figures title={title} names={days ?? names} {...data} />
    </div>
  );
}

/** The point that a key marks. The arrows start at the last one. */
function movedTo(key: string, at: number | undefined, last: number): number | undefined {
  if (key === 'ArrowLeft') return at === undefined ? last : Math.max(0, at - 1);
  if (key === 'ArrowRight') return at === undefined ? last : Math.min(last, at + 1);
  return key === 'Home' ? 0 : key === 'End' ? last : undefined;
}

const textOf = (value: number | null | undefined, { format }: ChartData): string =>
  value === null || value === undefined ? '–' : format(value);

/** The values stand beside the marked point, where the chart has more room. */
const sideOf = (mark: Mark | undefined, chart: HTMLElement | null): object => {
  if (!mark || !chart) return { display: 'none' };
  const is_left = mark.left_px < chart.clientWidth / 2;
  return is_left ? { left: mark.left_px + 12 } : { right: chart.clientWidth - mark.left_px + 12 };
};

interface FiguresProps extends ChartData {
  title: string;
  names: readonly string[];
}

const Figures = ({ title, names, ...data }: FiguresProps) => (
  <details>
    <summary>{title} as a table</summary>
    <DataTable
      aria-label={title}
      min_width={320}
      rows={[...names.entries()]}
      keyOf={([at, name]) => `${name}/${at}`}
      columns={[
        { title: data.days ? 'Day (UTC)' : zoned('Time'), cell: ([, name]) => name },
        ...data.series.map(({ name, values }) => ({
          title: name,
          cell: ([at]: [number, string]) => textOf(values[at], data),
          figure: true,
        })),
      ]}
    />
  </details>
);

interface WhenSeenProps {
  height: number;
  /** True while what is above it may still move it. */
  is_moving?: boolean;
  children: ReactNode;
}

/** Loads its content when it is nearly seen, and keeps the height of it until then. */
export function WhenSeen({ height, is_moving = false, children }: WhenSeenProps) {
  const { ref, entry } = useIntersection({ rootMargin: AHEAD });
  const [is_seen, setSeen] = useState(false);
  useEffect(() => {
    if (entry?.isIntersecting) setSeen(true);
  }, [entry]);
  return (
    <div ref={is_moving ? undefined : ref} style={{ minHeight: height }}>
      {is_seen && <Suspense fallback={<Skeleton height={height} aria-busy />}>{children}</Suspense>}
    </div>
  );
}
