// Commerce settings: written as query parameters upstream, and absent until they are first set.
import { missingFields } from '@bmg/common/errors';
import { itemsOf, type Json } from '@bmg/common/upstream';
import type { CommerceSettings, UpdateCommerceSettingsRequest } from '@bmg/proto/numberadmin';
import type { Part } from '../tools';

/** The upstream's defaults. */
const DEFAULTS: CommerceSettings = { is_catalog_visible: false, is_cart_enabled: true };

function readSettings(body: Json): CommerceSettings {
  const [record = {}] = itemsOf(body);
  const flag = (name: keyof CommerceSettings): boolean => {
    const value = record[name] ?? DEFAULTS[name];
    return value === true || value === 'true';
  };
  return {
    is_catalog_visible: flag('is_catalog_visible'),
    is_cart_enabled: flag('is_cart_enabled'),
  };
}

function writeSettings(request: UpdateCommerceSettingsRequest) {
  const { is_catalog_visible, is_cart_enabled } = request;
  if (is_catalog_visible === undefined && is_cart_enabled === undefined) {
    throw missingFields(
      ['is_catalog_visible', 'is_cart_enabled'],
      'at least one of is_catalog_visible, is_cart_enabled is required',
    );
  }
  return { is_catalog_visible, is_cart_enabled };
}

export const commerce: Part<'getCommerceSettings' | 'updateCommerceSettings'> = {
  getCommerceSettings: {
    upstream: 'GET /{phone_number_id}/whatsapp_commerce_settings',
    reply: readSettings,
  },
  updateCommerceSettings: {
    upstream: 'POST /{phone_number_id}/whatsapp_commerce_settings',
    query: writeSettings,
  },
};
