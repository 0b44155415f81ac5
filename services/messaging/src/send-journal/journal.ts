// The journal of the sends of broadcasts: lets the process that starts after a kill prove which
// claimed attempts were not sent, so that they are sent again and do not count as unknown. It needs
// a folder that outlives the process. Without one, or when it cannot be written, attempts are
// claimed without a note.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pause, within, type Component } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';
import type { SendClaims } from '../claims';
import { settleLeftJournals } from './left-journals';
import { openOwnJournal, type OwnJournal, type SendJournal } from './own-journal';

export type { JournalEntry, SendJournal } from './own-journal';

interface JournalDependencies {
  /** The setting `SEND_JOURNAL_DIR`. */
  dir: string | undefined;
  sendClaims: Pick<SendClaims, 'releaseNoted'>;
  log: Logger;
}

/** The service's folder, in the operator's folder, which must exist. */
const FOLDER = 'bmg-sends';
/** How long the start waits until the previous process's attempts are settled. */
const FIRST_PASS_LIMIT_MS = 3_000;
const RETRY_MS = 1_000;
const TRIES_MAX = 600;

export function createSendJournal({
  dir,
  sendClaims,
  log,
}: JournalDependencies): SendJournal & Component {
  const stopping = new AbortController();
  let own: OwnJournal | undefined;
  let settling: Promise<void> = Promise.resolve();

  const settleLeft = async (folder: string): Promise<void> => {
    for (let tries = 1; tries <= TRIES_MAX && !stopping.signal.aborted; tries += 1) {
      try {
        return await settleLeftJournals(
          folder,
          async (notes) => {
            const released = await sendClaims.releaseNoted(notes);
            log.info({ noted: notes.length, released }, 'settled the sends of a killed process');
          },
          log,
        );
      } catch (err) {
        if (tries === 1) log.warn({ err }, 'failed to settle the sends of a killed process');
        await pause(RETRY_MS, stopping.signal);
      }
    }
  };
  return {
    name: 'send journal',
    note: (attempt) => own?.note(attempt),
    async start() {
      if (dir === undefined) return;
      const folder = join(dir, FOLDER);
      try {
        await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST') throw error;
        });
        settling = settleLeft(folder);
        await within(FIRST_PASS_LIMIT_MS, settling).catch(() => undefined);
        own = await openOwnJournal(folder, log);
      } catch (err) {
        log.warn({ err }, 'no journal of sends: after a kill, more of them have unknown outcomes');
      }
    },
    async stop() {
      stopping.abort();
      await settling;
      own?.close();
    },
  };
}
