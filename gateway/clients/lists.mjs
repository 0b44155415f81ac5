// Finds the lists that have pages in the OpenAPI document, for the generators of all clients.

/** The items of an answer with several lists. */
const ITEMS = { getLedger: 'entries' };

/**
 * Returns for each list its path and operation, the property with its items, the query parameter of
 * the next page, whether `next` holds that page (otherwise the cursors do), and the names of the
 * schemas of the answer and of an item, if it has one. The event log is left out, as it has no last
 * page.
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
    const { schema } = get.responses['200'].content['application/json'];
    const { properties } = resolved(schema);
    const arrays = Object.keys(properties).filter(
      (name) => resolved(properties[name]).type === 'array',
    );
    const items = ITEMS[operation] ?? arrays[0];
    if (!arrays.includes(items) || (arrays.length > 1 && !ITEMS[operation])) {
      throw new Error(`name the items of ${operation} in lists.mjs: ${arrays.join(', ')}`);
    }
    const [answer, item] = [schema, resolved(properties[items]).items].map(nameOf);
    return [{ path, operation, items, page, has_next: 'next' in properties, answer, item }];
  });
}

const nameOf = ({ $ref }) => $ref?.split('/').pop();
const at = (node, keys) => keys.reduce((found, key) => found[key], node);
