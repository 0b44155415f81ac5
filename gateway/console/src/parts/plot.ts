// Draws a chart with uPlot. Loaded with the first chart that is seen.
import Plot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { zoneName } from './values';

export interface Series {
  name: string;
  /** The design token of its colour. */
  colour: 'accent' | 'good' | 'bad' | 'literal' | 'dim';
  /** One for each day or time; null if it is not known. */
  values: ReadonlyArray<number | null>;
  /** The period before: a dashed line. */
  is_before?: boolean;
}

export interface ChartData {
  kind: 'bars' | 'lines';
  /** UTC days without gaps, or else times. */
  days?: readonly string[];
  times_ms?: readonly number[];
  series: readonly Series[];
  /** The end of the axis, if it is not the highest value. */
  most?: number;
  format: (value: number) => string;
}

/** A point, and its distance from the left edge of the chart. */
export interface Mark {
  at: number;
  left_px: number;
}

const FONT = '12px system-ui, sans-serif';
const LABEL_PX = 20;
const CHARACTER_PX = 8;
const TICK_PX = 16;
/** Between two labels of the axis of time. */
const TIMES_PX = 110;
const DAYS_PX = 70;
const BARS_SHARE = 0.75;
const BAR_MAX_PX = 48;
const POINT_PX = 6;
const DAYS_AXIS_PX = 30;
/** The highest value does not touch the edge. */
const ROOM = 1.05;
/** Values that are all whole have whole steps. */
const WHOLE_STEPS = Array.from({ length: 10 }, (_none, power) => 10 ** power).flatMap((ten) =>
  [1, 2, 5].map((first) => first * ten),
);
/** Where the library puts a pointer that has left the chart. */
const OUTSIDE_PX = -10;
const DAY_S = 86_400;

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const calendar = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'short' });
const dates = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
});

/** Labels of Unix seconds: the day only if they span more than one. */
function timesOf(ticks: number[]): string[] {
  const span_s = (ticks.at(-1) ?? 0) - (ticks[0] ?? 0);
  return ticks.map((tick) => (span_s > DAY_S ? calendar : clock).format(tick * 1_000));
}

/** A canvas takes no variables of the style sheet. */
function colourOf(element: HTMLElement, token: string): string {
  element.style.color = `var(--${token})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}

/** The bars of one of several series, side by side in the space of a day. */
const barsOf =
  (place: number, count: number): Plot.Series.PathBuilder =>
  (plot, series, from, to) => {
    const fill = new Path2D();
    const values = plot.data[series] as Array<number | null>;
    const slot = (plot.bbox.width / values.length) * BARS_SHARE;
    const width = Math.min(slot / count, BAR_MAX_PX * devicePixelRatio);
    const floor = plot.valToPos(0, 'y', true);
    for (let at = from; at <= to; at += 1) {
      const value = values[at];
      if (!value) continue;
      const left = plot.valToPos(at, 'x', true) + (place - count / 2) * width;
      // The bar of the smallest value above 0 stays visible.
      const top = Math.min(plot.valToPos(value, 'y', true), floor - devicePixelRatio);
      fill.rect(left, top, width, floor - top);
    }
    return { fill, stroke: null };
  };

/** The values between two gaps, which have no line: a point shows each. */
const isolatedIn =
  (values: Series['values']): Plot.Series.Points.Filter =>
  () => {
    const is_known = (at: number): boolean => (values[at] ?? null) !== null;
    return [...values.keys()].filter(
      (at) => is_known(at) && !is_known(at - 1) && !is_known(at + 1),
    );
  };

function seriesOf({ kind, series }: ChartData, colours: Map<string, string>): Plot.Series[] {
  const bars = series.filter(({ is_before }) => kind === 'bars' && !is_before);
  return series.map((one) => {
    const colour = colours.get(one.colour) as string;
    const place = bars.indexOf(one);
    if (place >= 0) {
      return { fill: colour, paths: barsOf(place, bars.length), points: { show: false } };
    }
    if (one.is_before) return { stroke: colour, width: 2, dash: [5, 4], points: { show: false } };
    const points = { show: kind === 'lines', size: POINT_PX, filter: isolatedIn(one.values) };
    return { stroke: colour, width: 2, points };
  });
}

function optionsOf(element: HTMLElement, data: ChartData, onMark: (mark?: Mark) => void) {
  const { days, series, most, format } = data;
  const colours = new Map(series.map(({ colour }) => [colour, colourOf(element, colour)]));
  const line = colourOf(element, 'line');
  const axis: Plot.Axis = {
    stroke: colourOf(element, 'dim'),
    font: FONT,
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1 },
  };
  const values = series.flatMap((one) => one.values);
  const is_whole = values.every((value) => value === null || Number.isInteger(value));
  const options: Plot.Options = {
    width: element.clientWidth,
    height: element.clientHeight,
    legend: { show: false },
    // The last label of a time reaches beyond the plot.
    ...(!days && { padding: [null, TIMES_PX / 2, null, null] as Plot.Padding }),
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: !days, ...(days && { range: [-0.5, days.length - 0.5] }) },
      y: { range: (_plot, _min, max) => [0, most ?? (max > 0 ? max * ROOM : 1)] },
    },
    axes: [
      days
        ? {
            ...axis,
            grid: { show: false },
            size: DAYS_AXIS_PX,
            space: DAYS_PX,
            incrs: WHOLE_STEPS,
            values: (_plot, ticks) =>
              ticks.map((tick) => dates.format(Date.parse(days[tick] as string))),
          }
        : {
            ...axis,
            space: TIMES_PX,
            values: (_plot, ticks) => timesOf(ticks),
            label: `Time in ${zoneName()}`,
            labelSize: LABEL_PX,
            labelFont: FONT,
          },
      {
        ...axis,
        values: (_plot, ticks) => ticks.map(format),
        size: (_plot, labels) =>
          TICK_PX + CHARACTER_PX * Math.max(1, ...(labels ?? []).map(({ length }) => length)),
        ...(is_whole && { incrs: WHOLE_STEPS }),
      },
    ],
    series: [{}, ...seriesOf(data, colours)],
    hooks: {
      setCursor: [
        ({ cursor: { idx, left }, over }) =>
          onMark(
            idx === null || idx === undefined
              ? undefined
              : { at: idx, left_px: (left ?? 0) + over.offsetLeft },
          ),
      ],
    },
  };
  return options;
}

export interface Drawn {
  /** Marks a point as the pointer does; none without `at`. */
  mark(at?: number): void;
  destroy(): void;
}

/** Draws the chart into an element of a fixed height. `onMark` gets the point under the pointer. */
export function draw(element: HTMLElement, data: ChartData, onMark: (mark?: Mark) => void): Drawn {
  const places = data.days?.map((_day, at) => at) ?? data.times_ms?.map((time) => time / 1_000);
  const plot = new Plot(
    optionsOf(element, data, onMark),
    [places ?? [], ...data.series.map(({ values }) => [...values])],
    element,
  );
  const observer = new ResizeObserver(() =>
    plot.setSize({ width: element.clientWidth, height: element.clientHeight }),
  );
  observer.observe(element);
  return {
    mark: (at) =>
      plot.setCursor({
        left: at === undefined ? OUTSIDE_PX : plot.valToPos(places?.[at] ?? 0, 'x'),
        top: 0,
      }),
    destroy() {
      observer.disconnect();
      plot.destroy();
    },
  };
}
