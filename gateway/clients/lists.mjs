// Finds the lists that have pages in the OpenAPI document, for the generators of all clients.

/** The items of an answer with several lists. */
const ITEMS = { getLedger: 'entries' };

/**
 * For each list: its path and operation, the property with its items, and the query parameter of
 * the next page. The event log is left out: it has no last page.
 */
export function listsOf(document) {
  const resolved = (node) =>
    node?.$ref ? resolved(at(document, node.$ref.split('/').slice(1))) : node;
  return Object.entries(document.paths).flatMap(([path, { get }]) => {
    const query = (get?.parameters ?? []).map(resolved).filter((one) => one.in === 'query');
    const names = query.map(({ name }) => name);
    const page = ['offset', 'cursor', 'after'].find((name) => names.includes(name));
    if (page === undefined || names.includes('wait')) return [];
    const operation = get.operationId;
    const { properties } = resolved(get.responses['200'].content['application/json'].schema);
    const arrays = Object.keys(properties).filter(
      (name) => resolved(properties[name]).type === 'array',
    );
    const items = ITEMS[operation] ?? arrays[0];
    if (!arrays.includes(items) || (arrays.length > 1 && !ITEMS[operation])) {
      throw new Error(`name the items of ${operation} in lists.mjs: ${arrays.join(', ')}`);
    }
    return [{ path, operation, items, page }];
  });
}

const at = (node, keys) => keys.reduce((found, key) => found[key], node);
