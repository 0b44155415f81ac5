// Quantities as Kubernetes writes them.
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
};

/** `250m` and `12345n` of a processor, `256Mi` and `1234Ki` of memory: in processors and bytes. */
export function quantity(text: string): number {
  const [, amount, unit = ''] = /^([\d.]+)([a-zA-Z]*)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (amount === undefined || factor === undefined) throw new Error(`${text} is no quantity`);
  return Number(amount) * factor;
}
