// Tracks which offset may be committed while messages settle out of order: the first unsettled one.
interface Committable {
  partition: number;
  offset: string;
}

interface Partition {
  /** Offsets in order; the front moves past settled ones. */
  order: number[];
  head: number;
  settled: Set<number>;
  /** All offsets below this one are settled. */
  next: number;
  /** True while `next` was not taken. */
  dirty: boolean;
}

const COMPACT_AT = 4_096;

export function createOffsetTracker() {
  let generation = 0;
  const partitions = new Map<number, Partition>();
  return {
    /** Registers a batch; the returned function settles one of its offsets. */
    begin(partition: number, offsets: string[]): (offset: string) => void {
      const mine = generation;
      const fresh = { order: [], head: 0, settled: new Set<number>(), next: 0, dirty: false };
      const known: Partition = partitions.get(partition) ?? fresh;
      partitions.set(partition, known);
      // A failed batch is fetched again. Offsets that are registered already are not registered
      // twice, or the front would wait for offsets that have settled.
      const last = known.order.at(-1) ?? known.next - 1;
      for (const offset of offsets) if (Number(offset) > last) known.order.push(Number(offset));
      return (offset) => {
        if (mine !== generation || Number(offset) < known.next) return;
        known.settled.add(Number(offset));
        advance(known);
      };
    },
    /** Offsets that have become committable since the last call. */
    take(): Committable[] {
      const ready: Committable[] = [];
      for (const [partition, state] of partitions) {
        if (!state.dirty) continue;
        ready.push({ partition, offset: String(state.next) });
        state.dirty = false;
      }
      return ready;
    },
    /** Offers offsets again that could not be committed, unless more has settled since. */
    restore(taken: Committable[]): void {
      for (const { partition, offset } of taken) {
        const state = partitions.get(partition);
        // After a reset the partition belongs to another member or starts over.
        if (state && state.next >= Number(offset)) state.dirty = true;
      }
    },
    /** Clears all state after a reassignment; settling an earlier offset then has no effect. */
    reset(): void {
      generation += 1;
      partitions.clear();
    },
    /** True while `take` would return an offset. */
    get hasSettled(): boolean {
      for (const { dirty } of partitions.values()) if (dirty) return true;
      return false;
    },
    /** Registered offsets that are unsettled or wait for an earlier one. */
    get size(): number {
      let size = 0;
      for (const { order, head } of partitions.values()) size += order.length - head;
      return size;
    },
  };
}

function advance(state: Partition): void {
  for (;;) {
    const first = state.order[state.head];
    if (first === undefined || !state.settled.delete(first)) break;
    state.head += 1;
    state.next = first + 1;
    state.dirty = true;
  }
  if (state.head === state.order.length || state.head > COMPACT_AT) {
    state.order = state.order.slice(state.head);
    state.head = 0;
  }
}
