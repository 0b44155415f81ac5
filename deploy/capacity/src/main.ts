// `make capacity`: prints the tables of deploy/CAPACITY.md from the measured costs.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { assumptions, limitsPage, livesPage, outagePage, sizingPage } from './pages';
import type { Measured } from './sizing';

const measured = JSON.parse(
  readFileSync(resolve(__dirname, '../measured.json'), 'utf8'),
) as Measured;

console.log(`Costs: ${measured.source}\nAssumed: ${assumptions()}\n`);
console.log(`${sizingPage(measured)}\n`);
console.log(`${livesPage(measured)}\n`);
console.log(`${limitsPage(measured)}\n`);
console.log(outagePage(measured));
