import { chapters } from '../../endpoints';
import { buildOpenApi, operationsOf, type FoundOperation } from '../../openapi';
import { translate } from '../samples';
import { curlOf, limitsIn } from './sections';

const document = buildOpenApi(chapters, { public_url: 'https://gateway.example.net' });
const operations = operationsOf(document);
const sampleOf = (id: string): string =>
  curlOf(
    document,
    operations.find(({ operation }) => operation.operationId === id) as FoundOperation,
  );

test('a sample names identifiers as variables, and the method if curl would not choose it', () => {
  expect(sampleOf('updateQrCode')).toMatch(
    /^curl -s "\$BASE_URL\/qr-codes\/\$CODE" \\\n {2}-X PUT \\\n {2}-H "x-partner-key: \$KEY" \\\n/,
  );
  expect(sampleOf('sendText')).not.toContain('-X');
  expect(sampleOf('getTemplateAnalytics')).toContain('?template_ids=$TEMPLATE_IDS"');
  expect(sampleOf('getHealth')).toBe('curl -s "$BASE_URL/health"\n');
});

test.each(operations.map((found) => [found.operation.operationId, found] as const))(
  'the sample of %s can be read in every language',
  (_id, found) => {
    const samples = translate(curlOf(document, found));
    expect(Object.keys(samples ?? {})).toEqual(['node', 'python', 'php', 'go', 'java']);
  },
);

test('limits are sentences', () => {
  expect(
    limitsIn({
      counted: false,
      in_flight_max: { uncounted: 4, reads_of_10s: 2 },
      page: { max: 1_000 },
      body: { bytes_max: 1_048_576, values_max: 10_000 },
    }),
  ).toEqual([
    'Does not count towards the rate limit.',
    'A partner may have 4 such requests in flight; others wait up to 5 s for a place.',
    'A partner may have 2 reads of 10s in flight.',
    'A page has up to 1,000 items.',
    'A body has up to 1 MiB and 10,000 values.',
  ]);
});
