// Which requests of a planned change were not served.
import type { Send } from '../chaos/history';

/**
 * Requests of callers whose key and client never change, and webhooks, that were not accepted: how
 * often each answer came, and how many had none.
 */
export function unserved(
  sends: ReadonlyArray<Pick<Send, 'partner' | 'outcome' | 'answer'>>,
  webhooks: ReadonlyArray<{ status: number }>,
): { refused: string[]; cut_off: number } {
  const steady = sends.filter(({ partner }) => ['steady', 'puller'].includes(partner));
  const answers = [
    // The second of two sends at a time under one key must wait.
    ...steady
      .filter(({ outcome, answer }) => outcome !== 'ok' && !answer.includes('KEY_IN_USE'))
      .map(({ answer }) => answer),
    ...webhooks.filter(({ status }) => status !== 200).map(({ status }) => `webhook ${status}`),
  ];
  const isCutOff = (answer: string): boolean => answer === 'no answer' || answer === 'webhook 0';
  const counts = new Map<string, number>();
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  return {
    refused: [...counts]
      .filter(([answer]) => !isCutOff(answer))
      .map(([answer, count]) => `refused: ${count} × ${answer}`),
    cut_off: answers.filter(isCutOff).length,
  };
}
