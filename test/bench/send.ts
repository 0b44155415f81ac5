// Compares the send path with the bare chain (koa → one unary gRPC call → undici → the same stub),
// and with that chain when it counts each request in Redis and stores a record of it, in one run.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  aText,
  inTurns,
  startChain,
  printCosts,
  printRow,
  SETTLE_MS,
  WORKERS,
  type Row,
} from './chain';
import { openLoop, type Measured, type Shot } from './load';
import { openBench } from './processes';

const HALF_S = 10;

export async function benchSend(): Promise<void> {
  const bench = await openBench();
  try {
    const { gateway, bare, startStoring, pids } = await startChain(bench);
    const storing = await startStoring();
    await sleep(SETTLE_MS);
    const ours = gateway({ path: '/messages/send', body: aText });
    const keyed: Shot = {
      ...ours,
      headers: () => ({
        ...(ours.headers as Record<string, string>),
        'idempotency-key': randomUUID(),
      }),
    };
    const [base, stored, mine, with_key] = (await inTurns(
      [
        ['bare chain', bare],
        ['and Redis and MongoDB', storing],
        ['gateway', ours],
        ['with an Idempotency-Key', keyed],
      ],
      pids,
    )) as [Row, Row, Row, Row];
    const atHalf = ({ measured }: Row, shot: Shot): Promise<Measured> =>
      openLoop(shot, measured.per_second / 2, HALF_S);
    const base_half = await atHalf(base, bare);
    const my_half = await atHalf(mine, ours);
    console.log(`\nSend path, ${WORKERS} requests in flight (target: a ratio of at least 0.60)`);
    printRow(base);
    printRow(stored, base);
    printRow(mine, base);
    printRow(with_key, base);
    console.log('each at half of its full load');
    printRow({ name: base.name, measured: base_half, per_second: [] });
    printRow({ name: mine.name, measured: my_half, per_second: [] });
    printCosts([base, stored, mine, with_key], 'sends');
  } finally {
    await bench.stop();
  }
}
