// One read and one write of number administration against the bare chain, in one run: what a row of the endpoint
// table costs that neither stores nor records anything.
import { inTurns, startChain, tellCosts, tellRow, WORKERS, type Row } from './chain';
import { openBench } from './processes';

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
    )) as [Row, ...Row[]];
    const [base, ...ours] = rows;
    console.log(`\nNumber administration, ${WORKERS} requests under way`);
    tellRow(base);
    for (const row of ours) tellRow(row, base);
    tellCosts(rows, 'requests');
  } finally {
    await bench.stop();
  }
}
