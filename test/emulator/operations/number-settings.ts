// Settings of a number: conversational automation, commerce, calling and storage.
import { numberOf, routesOf, type Call } from '../core';
import { invalid } from '../errors';
import type { JsonObject } from '../types';
import { isObject, parameter, SUCCESS, truth } from './parameters';

export const numberSettingRoutes = routesOf('whatsapp_business_management', {
  'POST /:number/conversational_automation': writeAutomation,
  'GET /:number/whatsapp_commerce_settings': readCommerce,
  'POST /:number/whatsapp_commerce_settings': writeCommerce,
  'GET /:number/settings': readSettings,
  'POST /:number/settings': writeSettings,
});

const PROMPTS_MAX = 4;
const PROMPT_LENGTH_MAX = 80;
const COMMANDS_MAX = 30;
const COMMAND_NAME_MAX = 32;
const COMMAND_DESCRIPTION_MAX = 256;

function writeAutomation(call: Call): JsonObject {
  const number = numberOf(call);
  const welcome = parameter(call, 'enable_welcome_message');
  const prompts = jsonParameter(call, 'prompts');
  const commands = jsonParameter(call, 'commands');
  if (welcome === undefined && prompts === undefined && commands === undefined) {
    throw invalid('One of enable_welcome_message, prompts and commands is required.');
  }
  if (welcome !== undefined && truth(welcome) === undefined) {
    throw invalid('Param enable_welcome_message must be a boolean');
  }
  if (prompts !== undefined) checkPrompts(prompts);
  if (commands !== undefined) checkCommands(commands);
  if (welcome !== undefined) number.automation['enable_welcome_message'] = truth(welcome);
  if (prompts !== undefined) number.automation['prompts'] = prompts;
  if (commands !== undefined) number.automation['commands'] = commands;
  return SUCCESS;
}

/** The platform also accepts these as query parameters, as JSON text. */
function jsonParameter(call: Call, name: string): unknown {
  const value = parameter(call, name);
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    throw invalid(`Param ${name} must be an array`);
  }
}

function checkPrompts(prompts: unknown): void {
  const ok =
    Array.isArray(prompts) &&
    prompts.length <= PROMPTS_MAX &&
    prompts.every((prompt) => within(prompt, PROMPT_LENGTH_MAX));
  if (!ok) throw invalid(`Param prompts must hold up to ${PROMPTS_MAX} texts of 80 characters`);
}

function checkCommands(commands: unknown): void {
  if (!Array.isArray(commands) || commands.length > COMMANDS_MAX) {
    throw invalid(`Param commands must be an array of up to ${COMMANDS_MAX} elements`);
  }
  const names = new Set<string>();
  for (const command of commands as unknown[]) {
    const { command_name, command_description } = isObject(command) ? command : {};
    if (
      !within(command_name, COMMAND_NAME_MAX) ||
      !within(command_description, COMMAND_DESCRIPTION_MAX) ||
      String(command_name).includes('/')
    ) {
      throw invalid('Each command needs a command_name (32, no slash) and a command_description');
    }
    names.add(String(command_name));
  }
  if (names.size !== commands.length) throw invalid('Command names must be unique');
}

function within(value: unknown, length_max: number): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= length_max;
}

// --- commerce ---

function readCommerce(call: Call): JsonObject {
  const { commerce, id } = numberOf(call);
  return { data: commerce ? [{ ...commerce, id: `2${id.slice(1)}` }] : [] };
}

/** Reads query parameters only and ignores a JSON body. */
function writeCommerce(call: Call): JsonObject {
  const number = numberOf(call);
  const cart = call.query.get('is_cart_enabled');
  const catalog = call.query.get('is_catalog_visible');
  if (cart === null && catalog === null) {
    throw invalid('One of is_cart_enabled and is_catalog_visible is required.');
  }
  for (const value of [cart, catalog]) {
    if (value !== null && truth(value) === undefined) {
      throw invalid('is_cart_enabled and is_catalog_visible must be booleans');
    }
  }
  number.commerce = {
    is_cart_enabled: truth(cart) ?? number.commerce?.is_cart_enabled ?? true,
    is_catalog_visible: truth(catalog) ?? number.commerce?.is_catalog_visible ?? false,
  };
  return SUCCESS;
}

// --- settings ---

const SETTING_GROUPS = [
  'calling',
  'storage_configuration',
  'user_identity_change',
  'payload_encryption',
];
const SWITCH = ['ENABLED', 'DISABLED'];
const CALLING_VALUES: Readonly<Record<string, readonly string[]>> = {
  status: SWITCH,
  call_icon_visibility: ['DEFAULT', 'DISABLE_ALL'],
  callback_permission_status: SWITCH,
};
const STORAGE_STATUSES = [
  'DEFAULT',
  'IN_COUNTRY_STORAGE_ENABLED',
  'IN_COUNTRY_STORAGE_DISABLED',
  'NO_STORAGE_ENABLED',
  'NO_STORAGE_DISABLED',
];

function readSettings(call: Call): JsonObject {
  return { ...numberOf(call).settings };
}

function writeSettings(call: Call): JsonObject {
  const number = numberOf(call);
  const groups = Object.keys(call.body).filter((name) => SETTING_GROUPS.includes(name));
  if (groups.length !== 1) throw invalid('One feature setting must be specified');
  const [group] = groups as [string];
  const value = call.body[group];
  if (!isObject(value)) throw invalid(`Param ${group} must be a JSON object.`);
  if (group === 'calling') checkCalling(value);
  if (group === 'storage_configuration' && !STORAGE_STATUSES.includes(String(value['status']))) {
    throw invalid(
      `Param storage_configuration[status] must be one of {${STORAGE_STATUSES.join(', ')}}`,
    );
  }
  const before = number.settings[group];
  number.settings[group] = { ...(isObject(before) ? before : {}), ...value };
  return SUCCESS;
}

function checkCalling(value: JsonObject): void {
  for (const [name, allowed] of Object.entries(CALLING_VALUES)) {
    if (value[name] !== undefined && !allowed.includes(String(value[name]))) {
      throw invalid(`Param calling[${name}] must be one of {${allowed.join(', ')}}`);
    }
  }
}
