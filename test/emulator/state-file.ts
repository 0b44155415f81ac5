// Keeps the emulated world in a folder, so that a restarted emulator still knows its accounts,
// tokens and webhook subscriptions. Faults, limits, logs and queued webhooks are not kept.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { State } from './state';

/** To be raised with every change of the records in `types.ts`: an older file is then ignored. */
const FORMAT = 4;
const SAVE_EVERY_MS = 500;

interface Saved {
  format: number;
  state: object;
}

export class StateFile {
  private readonly file: string;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    folder: string,
    private readonly current: () => State,
  ) {
    mkdirSync(folder, { recursive: true });
    this.file = join(folder, 'state');
  }

  /** The stored world; null if there is none, or one of another format. */
  load(): State | null {
    if (!existsSync(this.file)) return null;
    try {
      const { format, state } = deserialize(readFileSync(this.file)) as Saved;
      if (format === FORMAT) return Object.assign(new State(), state);
      process.stderr.write(`emulator: ${this.file} has another format and is ignored\n`);
    } catch (error) {
      process.stderr.write(`emulator: ${this.file} cannot be read and is ignored: ${error}\n`);
    }
    return null;
  }

  /** Saves soon; changes that follow each other closely share a write. */
  touch(): void {
    this.timer ??= setTimeout(() => this.save(), SAVE_EVERY_MS);
  }

  /** The file is replaced whole, so that a kill leaves the old one or the new one. */
  save(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const saved: Saved = { format: FORMAT, state: { ...this.current() } };
    writeFileSync(`${this.file}.new`, serialize(saved), { mode: 0o600 });
    renameSync(`${this.file}.new`, this.file);
  }
}
