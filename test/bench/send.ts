// Compares the send path with the bare chain (koa → one unary gRPC call → undici → the same stub), and
// with that chain when it counts each request in Redis and stores a record of it, in one run.
import { aText, inTurns, startChain, printCosts, printRow, WORKERS, type Row } from './chain';
import { openLoop, type Measured } from './load';
import { openBench } from './processes';

const HALF_S = 10;

export async function benchSend(): Promise<void> {
  const bench = await openBench();
  try {
    const { gateway, bare, storing, pids } = await startChain(bench, 'messaging');
    const ours = gateway({ path: '/messages/send', body: aText });
    const [base, stored, mine] = (await inTurns(
      [
        ['bare chain', bare],
        ['and Redis and MongoDB', storing],
        ['gateway', ours],
      ],
      pids,
    )) as [Row, Row, Row];
    const halves: Array<[string, Measured]> = [];
    for (const [{ name, measured }, shot] of [
      [base, bare],
      [mine, ours],
    ] as const) {
      halves.push([name, await openLoop(shot, measured.per_second / 2, HALF_S)]);
    }
    console.log(`\nSend path, ${WORKERS} requests in flight (target: a ratio of at least 0.50)`);
    printRow(base);
    printRow(stored, base);
    printRow(mine, base);
    console.log('each at half of its full load');
    for (const [name, half] of halves) {
      console.log(
        `${name.padEnd(24)} ${(half.count / half.seconds).toFixed(0).padStart(6)} /s   p50 ${half.p50_ms.toFixed(1)} ms   p99 ${half.p99_ms.toFixed(1)} ms   failed ${half.failed}`,
      );
    }
    printCosts([base, stored, mine], 'sends');
  } finally {
    await bench.stop();
  }
}
