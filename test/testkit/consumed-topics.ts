// Reads from the code of a service which topics it consumes, and in which consumer groups.
import { topics } from '@bmg/common/bus';
import { groupOf } from '@bmg/common/service';

export type TopicKey = keyof typeof topics;

/** Calls of `consume`, with the topic and the group. */
export const CONSUMED = /\.consume(?:Unsettled)?\(\s*topics\.(\w+),\s*'([\w-]+)'/g;

/** `code` holds all files of the service without its tests. */
export function consumedTopics(service: string, code: string): [TopicKey, string][] {
  const called = [...code.matchAll(CONSUMED)].map(
    ([, topic, group]) => [topic, group] as [TopicKey, string],
  );
  // What its features consume: `consumers: { template: … }`, with functions in it or not.
  const listed = code
    .split('consumers: {')
    .slice(1)
    .flatMap((rest) => {
      const body = untilClosed(rest);
      return (Object.keys(topics) as TopicKey[]).filter((topic) =>
        new RegExp(`(^|\\n)\\s*(async )?${topic}[:(]`).test(body),
      );
    });
  const all = [
    ...called,
    ...listed.map((topic): [TopicKey, string] => [topic, groupOf(service, topic)]),
  ];
  // Several features may consume one topic.
  return [...new Map(all.map((one) => [one.join(), one])).values()];
}

/** The text up to the brace that closes the one before it. */
function untilClosed(text: string): string {
  let depth = 1;
  const end = text.split('').findIndex((character) => {
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    return depth === 0;
  });
  return text.slice(0, end);
}
