// Reads from the code of a service which topics it consumes, and in which consumer groups.
import { topics } from '@bmg/common/bus';
import { groupOf, STATE_TOPICS } from '@bmg/common/service';

export type TopicKey = keyof typeof topics;

/** Calls of `consume`, with the topic and the group. */
export const CONSUMED = /\.consume(?:Unsettled)?\(\s*topics\.(\w+),\s*'([\w-]+)'/g;

/** `code` holds all files of the service without its tests. */
export function consumedTopics(service: string, code: string): [TopicKey, string][] {
  const called = [...code.matchAll(CONSUMED)].map(
    ([, topic, group]) => [topic, group] as [TopicKey, string],
  );
  // What its features consume: `consumers: { template: … }`.
  const listed = [...code.matchAll(/consumers: \{([^}]*)\}/g)].flatMap(([, body = '']) =>
    (Object.keys(topics) as TopicKey[]).filter((topic) => new RegExp(`\\b${topic}:`).test(body)),
  );
  const has_state = listed.some((topic) => STATE_TOPICS.includes(topic));
  const by_features = [...listed, ...(has_state ? (['event'] as const) : [])];
  const all = [
    ...called,
    ...by_features.map((topic): [TopicKey, string] => [topic, groupOf(service, topic)]),
  ];
  // Several features may consume one topic.
  return [...new Map(all.map((one) => [one.join(), one])).values()];
}
