import { logLevel, type LogEntry } from 'kafkajs';
import type { Logger } from '../telemetry';
import { createClientLog, KINDS_MAX, REPEAT_MS } from './client';

type Line = [level: 'warn' | 'debug', fields: Record<string, unknown>, message: string];

/** The lines that the client's log passes on. */
function start() {
  const lines: Line[] = [];
  const write =
    (level: Line[0]) =>
    (fields: Record<string, unknown>, message: string): void =>
      void lines.push([level, fields, message]);
  const log = { warn: write('warn'), debug: write('debug') } as unknown as Logger;
  let now = 1_000;
  const pass = createClientLog(log, () => now);
  return {
    lines,
    wait: (ms: number) => void (now += ms),
    error: (message: string): void =>
      pass({
        namespace: 'Connection',
        level: logLevel.ERROR,
        label: 'ERROR',
        log: { timestamp: '', message, logger: 'kafkajs' } as LogEntry['log'],
      }),
  };
}

test('logs an error that repeats at every attempt once in a period, with the count', () => {
  const { lines, wait, error } = start();
  for (let attempt = 0; attempt < 60; attempt += 1) {
    error('Connection error: refused');
    wait(REPEAT_MS / 50);
  }
  expect(lines.map(([level, { repeated }, message]) => [level, repeated, message])).toEqual([
    ['warn', undefined, 'Connection error: refused'],
    ['warn', 49, 'Connection error: refused'],
  ]);
});

test('remembers a bounded number of errors', () => {
  const { lines, error } = start();
  for (let kind = 0; kind <= KINDS_MAX; kind += 1) error(`error ${kind}`);
  error('error 0');
  expect(lines.at(-1)?.[2]).toBe('error 0');
  expect(lines).toHaveLength(KINDS_MAX + 2);
});
