// Compares one read and one write of number administration with the bare chain in one run: the cost
// of an endpoint that stores nothing.
import { inTurns, startChain, printCosts, printRow, type Row } from './chain';
import { openBench } from './processes';

/** Below the 20 that the gateway lets a partner have in flight at endpoints that have no rate. */
const IN_FLIGHT = 16;

export async function benchNumberAdmin(): Promise<void> {
  const bench = await openBench();
  try {
    const { gateway, bare, pids } = await startChain(bench, 'number-admin');
    const path = '/commerce-settings';
    const change = JSON.stringify({ is_cart_enabled: true });
    const rows = (await inTurns(
      [
        ['bare chain', bare],
        [`GET ${path}`, gateway({ method: 'GET', path, body: undefined })],
        [`POST ${path}`, gateway({ path, body: () => change })],
      ],
      pids,
      IN_FLIGHT,
    )) as [Row, ...Row[]];
    const [base, ...ours] = rows;
    console.log(`\nNumber administration, ${IN_FLIGHT} requests in flight`);
    printRow(base);
    for (const row of ours) printRow(row, base);
    printCosts(rows, 'requests');
  } finally {
    await bench.stop();
  }
}
