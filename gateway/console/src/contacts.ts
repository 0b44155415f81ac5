// Contacts of a broadcast from pasted text or a CSV file. Every row that cannot be sent is reported
// with its line before anything is created; the gateway checks all of them again.
import Papa from 'papaparse';
import type { Variable } from './template';

export interface Table {
  columns: string[];
  rows: Array<{ line: number; cells: string[] }>;
}

export interface Contact {
  recipient: string;
  params?: Record<string, string>;
}

export interface BadRow {
  line: number;
  problem: string;
}

export const CONTACTS_MAX = 10_000;
const PHONE = /^\+?[1-9]\d{6,14}$/;
const SEPARATORS = /[\s().-]/g;
const BSUID = /^(whatsapp:)?[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/;

const isRecipient = (text: string): boolean =>
  PHONE.test(text.replace(SEPARATORS, '')) || BSUID.test(text);

/** The first row names the columns, unless it already holds a recipient. */
export function readTable(text: string): Table {
  const { data } = Papa.parse<string[]>(text, { skipEmptyLines: false });
  const rows = data
    .map((cells, at) => ({ line: at + 1, cells: cells.map((cell) => cell.trim()) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
  const [first] = rows;
  if (!first) return { columns: [], rows: [] };
  const headed = !first.cells.some(isRecipient);
  const width = Math.max(...rows.map(({ cells }) => cells.length));
  const columns = Array.from({ length: width }, (_, at) =>
    headed ? first.cells[at] || `Column ${at + 1}` : `Column ${at + 1}`,
  );
  return { columns, rows: headed ? rows.slice(1) : rows };
}

/** Which column holds the recipient, and which one each variable. */
export interface Mapping {
  recipient: number;
  params: Record<string, number>;
}

const RECIPIENT_NAMES = /^(phone|recipient|to|number|mobile|tel|wa_id)/i;

/** A column of the same name, else the columns in their order. */
export function guessMapping(
  { columns, rows }: Table,
  variables: readonly Pick<Variable, 'key'>[],
): Mapping {
  const named = columns.findIndex((column) => RECIPIENT_NAMES.test(column));
  const filled = rows[0]?.cells.findIndex(isRecipient) ?? -1;
  const recipient = Math.max(0, named >= 0 ? named : filled);
  const others = columns.map((_, at) => at).filter((at) => at !== recipient);
  const params = variables.map(({ key }, at) => {
    const same = columns.findIndex((column) => column.toLowerCase() === key.toLowerCase());
    return [key, same >= 0 ? same : (others[at] ?? -1)] as const;
  });
  return { recipient, params: Object.fromEntries(params) };
}

/** True if a column has a recipient. Otherwise each row would be refused for the same reason. */
export const hasRecipients = ({ rows }: Table): boolean =>
  rows.some(({ cells }) => cells.some(isRecipient));

export function readContacts(
  { rows }: Table,
  { recipient, params }: Mapping,
  variables: readonly Pick<Variable, 'key' | 'label'>[],
): { contacts: Contact[]; bad: BadRow[] } {
  const contacts: Contact[] = [];
  const bad: BadRow[] = [];
  const lines = new Map<string, number>();
  for (const { line, cells } of rows) {
    const to = cells[recipient] ?? '';
    const values = variables.map(({ key }) => [key, cells[params[key] ?? -1] ?? ''] as const);
    const missing = variables.filter((_, at) => values[at]?.[1] === '').map(({ label }) => label);
    const known = to.replace(SEPARATORS, '').replace(/^\+/, '');
    const earlier = lines.get(known);
    if (to === '') bad.push({ line, problem: 'has no recipient' });
    else if (!isRecipient(to)) {
      bad.push({ line, problem: `“${to}” is not an international phone number` });
    } else if (earlier !== undefined) {
      bad.push({ line, problem: `has the same recipient as line ${earlier}` });
    } else if (missing.length > 0)
      bad.push({ line, problem: `has no value for ${missing.join(', ')}` });
    else {
      lines.set(known, line);
      contacts.push({
        recipient: to,
        ...(values.length > 0 && { params: Object.fromEntries(values) }),
      });
    }
  }
  return { contacts, bad };
}
