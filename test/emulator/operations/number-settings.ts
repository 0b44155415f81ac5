// Settings of a number: conversational automation, commerce, calling and storage.
import { numberOf, routesOf, type Call } from '../core';
import { invalid } from '../errors';
import type { JsonObject } from '../types';
import { isObject, parameter, requireOneOf, SUCCESS, truth } from './parameters';

export const numberSettingRoutes = routesOf('whatsapp_business_management', {
  'POST /:number/conversational_automation': writeAutomation,
  'GET /:number/whatsapp_commerce_settings': readCommerce,
  'POST /:number/whatsapp_commerce_settings': writeCommerce,
  'GET /:number/settings': (call) => ({ ...numberOf(call).settings }),
  'POST /:number/settings': writeSettings,
});

const PROMPTS_MAX = 4;
const PROMPT_LENGTH_MAX = 80;
const COMMANDS_MAX = 30;
const COMMAND_NAME_MAX = 32;
const COMMAND_DESCRIPTION_MAX = 256;

const AUTOMATION: Readonly<Record<string, (value: unknown) => boolean>> = {
  enable_welcome_message: (value) => truth(value) !== undefined,
  prompts: (value) =>
    isListOf(value, PROMPTS_MAX) && value.every((prompt) => within(prompt, PROMPT_LENGTH_MAX)),
  commands: (value) =>
    isListOf(value, COMMANDS_MAX) &&
    value.every((command) => {
      const { command_name, command_description } = isObject(command) ? command : {};
      return (
        within(command_name, COMMAND_NAME_MAX) &&
        within(command_description, COMMAND_DESCRIPTION_MAX) &&
        !String(command_name).includes('/')
      );
    }) &&
    new Set(value.map((command) => (command as JsonObject)['command_name'])).size === value.length,
};

function writeAutomation(call: Call): JsonObject {
  const given: JsonObject = {};
  for (const [name, isValid] of Object.entries(AUTOMATION)) {
    const value = jsonParameter(call, name);
    if (value === undefined) continue;
    if (!isValid(value)) throw invalid(`Param ${name} is not valid`);
    given[name] = truth(value) ?? value;
  }
  if (Object.keys(given).length === 0) {
    throw invalid('One of enable_welcome_message, prompts and commands is required.');
  }
  Object.assign(numberOf(call).automation, given);
  return SUCCESS;
}

/** The platform also accepts these as query parameters, as JSON text. */
function jsonParameter(call: Call, name: string): unknown {
  const value = parameter(call, name);
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    throw invalid(`Param ${name} is not valid`);
  }
}

const isListOf = (value: unknown, length_max: number): value is unknown[] =>
  Array.isArray(value) && value.length <= length_max;

const within = (value: unknown, length_max: number): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= length_max;

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

const SWITCH = ['ENABLED', 'DISABLED'];
/** The settings groups, with the values of their fields. */
const SETTINGS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  calling: {
    status: SWITCH,
    call_icon_visibility: ['DEFAULT', 'DISABLE_ALL'],
    callback_permission_status: SWITCH,
  },
  storage_configuration: {
    status: [
      'DEFAULT',
      ...['IN_COUNTRY_STORAGE_ENABLED', 'IN_COUNTRY_STORAGE_DISABLED'],
      ...['NO_STORAGE_ENABLED', 'NO_STORAGE_DISABLED'],
    ],
  },
  user_identity_change: {},
  payload_encryption: {},
};

function writeSettings(call: Call): JsonObject {
  const { settings } = numberOf(call);
  const groups = Object.keys(call.body).filter((name) => name in SETTINGS);
  if (groups.length !== 1) throw invalid('One feature setting must be specified');
  const [group] = groups as [string];
  const value = call.body[group];
  if (!isObject(value)) throw invalid(`Param ${group} must be a JSON object.`);
  for (const [name, allowed] of Object.entries(SETTINGS[group] ?? {})) {
    const required = group === 'storage_configuration';
    if (required || value[name] !== undefined) {
      requireOneOf(value[name], `${group}[${name}]`, allowed);
    }
  }
  const before = settings[group];
  settings[group] = { ...(isObject(before) ? before : {}), ...value };
  return SUCCESS;
}
