// Reads work of all partners in pages of bounded size, so that a partner with much of it does not
// delay the work of others: once a partner has had its share, further pages leave it out.

/** Documents per page, and per partner. The rest follows at the next poll, a second later. */
const PAGE_MAX = 1_000;
const PARTNER_MAX = 500;
const PAGES_MAX = 10;

type Excluded = { partner_id?: { $nin: string[] } };

/**
 * `read` reads one page of at most `limit` documents; returns how many it found, and those that count
 * against the shares of their partners. A page that is not full is the last one.
 */
export async function inFairPages(
  read: (
    excluded: Excluded,
    limit: number,
  ) => Promise<{ found: number; taken: Array<{ partner_id: string }> }>,
): Promise<void> {
  const taken = new Map<string, number>();
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const full = [...taken].filter(([, count]) => count >= PARTNER_MAX).map(([id]) => id);
    const { found, taken: more } = await read(
      full.length > 0 ? { partner_id: { $nin: full } } : {},
      PAGE_MAX,
    );
    for (const { partner_id } of more) taken.set(partner_id, (taken.get(partner_id) ?? 0) + 1);
    if (found < PAGE_MAX) return;
  }
}
