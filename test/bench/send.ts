// Compares the send path with the bare chain (koa → one unary gRPC call → undici → the same stub)
// in one run.
import { aText, inTurns, startChain, printCosts, printRow, WORKERS, type Row } from './chain';
import { openLoop } from './load';
import { openBench } from './processes';

const HALF_S = 10;

export async function benchSend(): Promise<void> {
  const bench = await openBench();
  try {
    const { gateway, bare, pids } = await startChain(bench, 'messaging');
    const ours = gateway({ path: '/messages/send', body: aText });
    const [base, mine] = (await inTurns(
      [
        ['bare chain', bare],
        ['gateway', ours],
      ],
      pids,
    )) as [Row, Row];
    const half = await openLoop(ours, mine.measured.per_second / 2, HALF_S);
    console.log(`\nSend path, ${WORKERS} requests in flight (target: a ratio of at least 0.50)`);
    printRow(base);
    printRow(mine, base);
    console.log(
      `at half load ${(half.count / half.seconds).toFixed(0).padStart(18)} /s   p50 ${half.p50_ms.toFixed(1)} ms   p99 ${half.p99_ms.toFixed(1)} ms   failed ${half.failed}   (target: p99 under 50 ms)`,
    );
    printCosts([base, mine], 'sends');
  } finally {
    await bench.stop();
  }
}
