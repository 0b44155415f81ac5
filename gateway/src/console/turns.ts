// Work in turns: one piece of each holder at a time, in order of arrival.
export interface Turns {
  take<T>(holder: string, work: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  /** The last piece of work of each holder. */
  const last = new Map<string, Promise<unknown>>();
  return {
    async take(holder, work) {
      const done = (last.get(holder) ?? Promise.resolve()).then(work, work);
      last.set(holder, done);
      try {
        return await done;
      } finally {
        if (last.get(holder) === done) last.delete(holder);
      }
    },
  };
}
