// Generates the tables of deploy/CAPACITY.md, and compares the model's rules with the code.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { RULES } from '../../deploy/capacity/src/outage';
import {
  assumptions,
  limitsPage,
  livesPage,
  outagePage,
  sizingPage,
} from '../../deploy/capacity/src/pages';
import { ASSUMED, type Measured } from '../../deploy/capacity/src/sizing';
import { settings } from '../../services/webhooks/src/config';
import { OF_PARTNER_MAX, PROBE_EVERY_MS } from '../../services/webhooks/src/delivery/overflow';
import { RETRY_DELAYS_MS } from '../../services/webhooks/src/delivery/retry-schedule';

const PAGE = resolve(__dirname, '../../deploy/CAPACITY.md');
const measured = JSON.parse(
  readFileSync(resolve(__dirname, '../../deploy/capacity/measured.json'), 'utf8'),
) as Measured;

const PARTS: Record<string, () => string> = {
  sizing: () => sizingPage(measured),
  lives: () => livesPage(measured),
  limits: () => limitsPage(measured),
  assumed: assumptions,
  measured: () => `${measured.source}.`,
  outage: () => outagePage(measured),
};

test('CAPACITY.md has the tables that `make capacity` prints', () => {
  const page = readFileSync(PAGE, 'utf8');
  let wanted = page;
  for (const [name, part] of Object.entries(PARTS)) {
    const place = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(\n<!-- /${name} -->)`);
    expect(page).toMatch(place);
    wanted = wanted.replace(place, (_all, open: string, close: string) => open + part() + close);
  }
  if (process.env['GOLDEN'] === 'write') writeFileSync(PAGE, wanted);
  else expect(page).toBe(wanted);
});

test('the model uses the retry, share and overflow rules of the service', () => {
  expect(RULES.retry_delays_s).toEqual(RETRY_DELAYS_MS.map((ms) => ms / 1_000));
  expect(RULES.in_memory_max).toBe(OF_PARTNER_MAX);
  expect(RULES.probe_every_s).toBe(PROBE_EVERY_MS / 1_000);
  expect(RULES.share).toBe(settings.DELIVERY_SHARE.default);
  expect(ASSUMED.attempts_in_flight).toBe(settings.DELIVERY_TOTAL.default);
});
