// The last status of each template, as status events reported it. Used when the templates service
// is unavailable.
import type { Collection, Db } from 'mongodb';
import type { Received } from '@bmg/common/bus';
import { languageOf, statusAfter } from '@bmg/common/preflight';
import type { Event } from '@bmg/proto/stream';
import type { TemplateName } from './rules';

interface TemplateState {
  _id: string;
  status: string;
  at: number;
}

const STATUS_EVENT = 'template.status_updated';

export function createTemplateStateStore(db: Db) {
  const states: Collection<TemplateState> = db.collection('template_states');
  return {
    async statusOf(waba_id: string, { name, language }: TemplateName): Promise<string | undefined> {
      const state = await states.findOne({ _id: idOf(waba_id, name, language) });
      // A row of an earlier release may hold the name of an event.
      return statusAfter(state?.status ?? '') || undefined;
    },
    /** Handles a batch of events in order; events about anything else are skipped. */
    async apply(batch: Received<Event>[]): Promise<void> {
      const reported = batch.flatMap(({ message }) => read(message) ?? []);
      if (reported.length === 0) return;
      await states.bulkWrite(
        reported.flatMap(({ _id, at, status }) => [
          {
            updateOne: { filter: { _id }, update: { $setOnInsert: { at, status } }, upsert: true },
          },
          // An older status that arrives late has no effect.
          { updateOne: { filter: { _id, at: { $lte: at } }, update: { $set: { at, status } } } },
        ]),
        { ordered: true },
      );
    },
  };
}

export type TemplateStates = ReturnType<typeof createTemplateStateStore>;

const idOf = (waba_id: string, name: string, language: string): string =>
  JSON.stringify([waba_id, name, languageOf(language)]);

function read({ event, waba_id, timestamp, data }: Event): TemplateState | undefined {
  if (event !== STATUS_EVENT) return undefined;
  const status_change = JSON.parse(data) as Record<string, unknown>;
  const { template_name, template_language, status } = status_change;
  if (typeof template_name !== 'string' || typeof template_language !== 'string') return undefined;
  const after = statusAfter(String(status));
  if (after === undefined) return undefined;
  return { _id: idOf(waba_id, template_name, template_language), status: after, at: timestamp };
}
