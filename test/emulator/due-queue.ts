// A binary heap of items by due time, with one timer for all of them.

export interface Due {
  due_at: number;
  /** Breaks ties: first in, first out. */
  order: number;
}

export class DueQueue<T extends Due> {
  private heap: T[] = [];

  get size(): number {
    return this.heap.length;
  }

  peek(): T | undefined {
    return this.heap[0];
  }

  push(item: T): void {
    const { heap } = this;
    let index = heap.push(item) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!before(item, heap[parent] as T)) break;
      heap[index] = heap[parent] as T;
      index = parent;
    }
    heap[index] = item;
  }

  pop(): T | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      const right = child + 1;
      if (right < heap.length && before(heap[right] as T, heap[child] as T)) child = right;
      if (!before(heap[child] as T, last)) break;
      heap[index] = heap[child] as T;
      index = child;
    }
    heap[index] = last;
    return first;
  }

  clear(): void {
    this.heap = [];
  }
}

function before(a: Due, b: Due): boolean {
  return a.due_at < b.due_at || (a.due_at === b.due_at && a.order < b.order);
}

/** Items due within this time of each other are handled together. */
const TICK_MS = 5;

/** One timer, set to the earliest requested time. */
export class DueTimer {
  private timer: NodeJS.Timeout | null = null;
  private at = Infinity;

  constructor(private readonly run: () => void) {}

  arm(at: number): void {
    if (at === Infinity || this.at <= at + TICK_MS) return;
    if (this.timer) clearTimeout(this.timer);
    this.at = at;
    this.timer = setTimeout(
      () => {
        this.timer = null;
        this.at = Infinity;
        this.run();
      },
      Math.max(TICK_MS, at - Date.now()),
    );
  }

  clear(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    this.at = Infinity;
  }
}
