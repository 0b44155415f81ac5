// Conversational automation: read as a field of the number, written on a separate edge. An omitted
// field is unchanged, an empty one is cleared.
import { invalidField, missingFields } from '@bmg/common/errors';
import { isObject, type Json } from '@bmg/common/upstream';
import type {
  ConversationalAutomation,
  UpdateConversationalAutomationRequest,
} from '@bmg/proto/numberadmin';
import type { Part } from '../tools';

/** Limits: at most 4 ice breakers. */
const PROMPTS_MAX = 4;

/** Fields that were never set are absent upstream. */
function readAutomation(body: Json): ConversationalAutomation {
  const field = body['conversational_automation'];
  const { enable_welcome_message, prompts, commands } = isObject(field) ? field : {};
  return {
    enable_welcome_message: enable_welcome_message === true || enable_welcome_message === 'true',
    prompts: Array.isArray(prompts) ? prompts.map(String) : [],
    commands: (Array.isArray(commands) ? commands : []).filter(isObject).map((command) => ({
      command_name: String(command['command_name'] ?? ''),
      command_description: String(command['command_description'] ?? ''),
    })),
  };
}

type Update = UpdateConversationalAutomationRequest;

function writeAutomation({ enable_welcome_message, prompts, commands }: Update): Json {
  if (enable_welcome_message === undefined && !prompts && !commands) {
    throw missingFields(
      ['enable_welcome_message', 'prompts', 'commands'],
      'at least one of enable_welcome_message, prompts, commands is required',
    );
  }
  if (prompts && prompts.items.length > PROMPTS_MAX) {
    throw invalidField('prompts', `must have at most ${PROMPTS_MAX} items`);
  }
  const blank = (commands?.items ?? []).flatMap((command, index) =>
    (['command_name', 'command_description'] as const)
      .filter((name) => command[name].trim() === '')
      .map((name) => `commands[${index}].${name}`),
  );
  if (blank.length > 0) throw missingFields(blank);
  return {
    ...(enable_welcome_message !== undefined && { enable_welcome_message }),
    ...(prompts && { prompts: prompts.items }),
    ...(commands && { commands: commands.items }),
  };
}

export const automation: Part<'getConversationalAutomation' | 'updateConversationalAutomation'> = {
  getConversationalAutomation: {
    upstream: 'GET /{phone_number_id}',
    query: { fields: 'conversational_automation' },
    reply: readAutomation,
  },
  updateConversationalAutomation: {
    upstream: 'POST /{phone_number_id}/conversational_automation',
    body: writeAutomation,
  },
};
