/** Works on up to `max` rows, claimed one by one. Returns true if more may be due. */
export async function eachClaimed<T>(
  max: number,
  claim: () => Promise<T | null>,
  work: (row: T) => Promise<void>,
): Promise<boolean> {
  for (let done = 0; done < max; done += 1) {
    const row = await claim();
    if (!row) return false;
    await work(row);
  }
  return true;
}
