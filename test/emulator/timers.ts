// Work that is due later. It can be counted, and all of it can be dropped.

export class Timers {
  private readonly open = new Set<NodeJS.Timeout>();

  get size(): number {
    return this.open.size;
  }

  after(delay_ms: number, run: () => void): void {
    const timer = setTimeout(
      () => {
        this.open.delete(timer);
        run();
      },
      Math.max(0, delay_ms),
    );
    this.open.add(timer);
  }

  clear(): void {
    for (const timer of this.open) clearTimeout(timer);
    this.open.clear();
  }
}
