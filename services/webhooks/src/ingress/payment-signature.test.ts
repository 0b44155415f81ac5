import { mayBePaymentSignature } from './payment-signature';

const NOW_S = 1_790_000_000;
const V1 = 'a'.repeat(64);

test.each([
  [`t=${NOW_S},v1=${V1}`],
  [`t=${NOW_S - 299}, v1=${V1}`],
  [`t=${NOW_S},v1=${V1},v1=${'b'.repeat(64)},v0=${V1}`],
])('%s may be a signature', (header) => {
  expect(mayBePaymentSignature(header, NOW_S)).toBe(true);
});

test.each([
  ['no header', undefined],
  ['several headers', [`t=${NOW_S},v1=${V1}`]],
  ['an empty header', ''],
  ['no time', `v1=${V1}`],
  ['no signature', `t=${NOW_S}`],
  ['only a signature of another scheme', `t=${NOW_S},v0=${V1}`],
  ['a signature of another length', `t=${NOW_S},v1=${V1}0`],
  ['an old time', `t=${NOW_S - 301},v1=${V1}`],
  ['an overlong header', `t=${NOW_S},v1=${V1},${'x'.repeat(1_024)}`],
])('%s is none', (_name, header) => {
  expect(mayBePaymentSignature(header, NOW_S)).toBe(false);
});
