// The picture of the receiver's health. Its library loads with it.
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import Plot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { zoneName } from '../../parts/time';
import { seriesOf, type Health } from './health';

const HEIGHT_PX = 200;
const POINT_PX = 5;
const MARK_PX = 9;
const LABEL_PX = 20;
const FONT = '12px system-ui, sans-serif';
const COLOURS = {
  light: {
    text: '#4d5560',
    grid: '#e3e6ea',
    accepted: '#0b7285',
    answer: '#b35900',
    failed: '#b3261e',
  },
  dark: {
    text: '#a9b0ba',
    grid: '#2e3136',
    accepted: '#5fcbd8',
    answer: '#ffb266',
    failed: '#ff8a80',
  },
};
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const calendar = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'short' });
const DAY_S = 86_400;

/** Labels of Unix seconds: the day only if they span more than one. */
function timesOf(ticks: number[]): string[] {
  const span_s = (ticks.at(-1) ?? 0) - (ticks[0] ?? 0);
  return ticks.map((tick) => (span_s > DAY_S ? calendar : clock).format(tick * 1_000));
}

type Colours = (typeof COLOURS)['light'];

function optionsOf(width: number, { text, grid, accepted, answer, failed }: Colours): Plot.Options {
  const axis = { stroke: text, grid: { stroke: grid }, ticks: { stroke: grid } };
  // An interval between two gaps has no line: its point shows it.
  const points = { show: true, size: POINT_PX };
  return {
    width,
    height: HEIGHT_PX,
    cursor: { drag: { x: false, y: false } },
    // Hides the values under the pointer, which a person on a phone or keyboard cannot read.
    legend: { live: false },
    scales: { percent: { range: [0, 105] }, ms: { range: (_plot, _min, max) => [0, max || 1] } },
    axes: [
      {
        ...axis,
        space: 110,
        values: (_plot, ticks) => timesOf(ticks),
        label: `Time in ${zoneName()}`,
        labelSize: LABEL_PX,
        labelFont: FONT,
      },
      {
        ...axis,
        scale: 'percent',
        size: 60,
        values: (_plot, ticks) => ticks.map((tick) => `${tick} %`),
      },
      {
        ...axis,
        scale: 'ms',
        side: 1,
        size: 70,
        grid: { show: false },
        values: (_plot, ticks) => ticks.map((tick) => `${tick} ms`),
      },
    ],
    series: [
      {},
      { label: 'Accepted (%)', scale: 'percent', stroke: accepted, width: 2, points },
      { label: 'Answers after (ms)', scale: 'ms', stroke: answer, width: 2, dash: [6, 4], points },
      {
        label: 'With failures',
        scale: 'percent',
        stroke: failed,
        paths: () => null,
        points: { show: true, size: MARK_PX, stroke: failed, fill: failed },
      },
    ],
  };
}

export function HealthPlot({ health: { points }, label }: { health: Health; label: string }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    const element = place.current as HTMLDivElement;
    const drawn = new Plot(
      optionsOf(element.clientWidth, COLOURS[scheme]),
      [[], [], [], []],
      element,
    );
    plot.current = drawn;
    const observer = new ResizeObserver(() =>
      drawn.setSize({ width: element.clientWidth, height: HEIGHT_PX }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      drawn.destroy();
    };
  }, [scheme]);
  useEffect(() => {
    const { at_s, accepted, answer_ms, failed } = seriesOf(points);
    plot.current?.setData([at_s, accepted, answer_ms, failed]);
  }, [points, scheme]);
  return <div ref={place} role="img" aria-label={label} className="plot" />;
}
