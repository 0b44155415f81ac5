// The lag of the event loop, under the names of prom-client's default metrics. The library's own
// monitor wakes up every process a hundred times a second; this one measures four times a second
// how late its timer runs, and once a second while the process is idle.
import { createHistogram, performance } from 'node:perf_hooks';
import { Gauge, register } from 'prom-client';

const NAME = 'nodejs_eventloop_lag';
const LOOK_EVERY_MS = { busy: 250, idle: 1_000 };
/** The share of its time in which an idle process works. */
const IDLE = 0.05;
const NS_PER_MS = 1e6;
const NS_PER_S = 1e9;

const lags = createHistogram();

/** The value of each metric since the last scrape. */
const REPORTED = {
  min: () => lags.min,
  max: () => lags.max,
  mean: () => lags.mean,
  stddev: () => lags.stddev,
  p50: () => lags.percentile(50),
  p90: () => lags.percentile(90),
  p99: () => lags.percentile(99),
};

/** Replaces the library's metrics of the event loop's lag. */
export function reportLoopLag(): void {
  const names = Object.keys(REPORTED) as Array<keyof typeof REPORTED>;
  register.removeSingleMetric(`${NAME}_seconds`);
  for (const name of names) register.removeSingleMetric(`${NAME}_${name}_seconds`);
  const gauges = new Map<keyof typeof REPORTED, Gauge>();
  // Registered first, because metrics are collected in the order of registration.
  new Gauge({
    name: `${NAME}_seconds`,
    help: 'By how much the last timer ran late.',
    collect() {
      this.set(latest_ms / 1_000);
      if (lags.count === 0) return;
      for (const [name, gauge] of gauges) gauge.set(REPORTED[name]() / NS_PER_S);
      lags.reset();
    },
  });
  for (const name of names) {
    const help = `By how much a timer ran late since the last scrape: ${name}.`;
    gauges.set(name, new Gauge({ name: `${NAME}_${name}_seconds`, help }));
  }
  look();
}

let latest_ms = 0;
let usage = performance.eventLoopUtilization();

function look(): void {
  const before = usage;
  usage = performance.eventLoopUtilization();
  const { utilization } = performance.eventLoopUtilization(usage, before);
  const after_ms = utilization < IDLE ? LOOK_EVERY_MS.idle : LOOK_EVERY_MS.busy;
  const due = performance.now() + after_ms;
  setTimeout(() => {
    latest_ms = Math.max(0, performance.now() - due);
    // The histogram takes whole numbers from 1.
    lags.record(Math.max(1, Math.round(latest_ms * NS_PER_MS)));
    look();
  }, after_ms).unref();
}
