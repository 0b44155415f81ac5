import { resolveObjectURL } from 'node:buffer';
import { download } from './csv';

test('keeps a file until the browser has read it, and no longer than a minute', async () => {
  jest.useFakeTimers();
  const link = { href: '', download: '', click: jest.fn() };
  Object.assign(globalThis, { document: { createElement: () => link } });
  try {
    download('usage.csv', 'Endpoint,calls');
    expect([link.download, link.click.mock.calls.length]).toEqual(['usage.csv', 1]);
    expect(await resolveObjectURL(link.href)?.text()).toBe('Endpoint,calls');
    jest.advanceTimersByTime(60_000);
    expect(resolveObjectURL(link.href)).toBeUndefined();
  } finally {
    Reflect.deleteProperty(globalThis, 'document');
    jest.useRealTimers();
  }
});
