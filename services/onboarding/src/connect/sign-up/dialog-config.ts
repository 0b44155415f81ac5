// The configuration that a page, hosted or self-hosted, needs to start the sign-up dialog
// (contract 10.5).
import { ApiError } from '@bmg/common/errors';
import type { GetEmbeddedSignupConfigResponse } from '@bmg/proto/onboarding';
import type { Config } from '../../config';
import type { App } from '../upstream';

const SESSION_INFO_VERSION = '3';
const SIGN_UP_VERSION = 'v4';

const notConfigured = (): ApiError =>
  new ApiError('PLATFORM_NOT_CONFIGURED', 'the embedded sign-up is not configured on this service');

/** Throws PLATFORM_NOT_CONFIGURED without an app ID and secret. */
export function signUpApp(settings: Config): App {
  const { UPSTREAM_APP_ID: app_id, UPSTREAM_APP_SECRET: app_secret } = settings;
  if (!app_id || !app_secret) throw notConfigured();
  return { app_id, app_secret };
}

/** Throws PLATFORM_NOT_CONFIGURED without an app or a configuration ID. */
export function signUpConfig(settings: Config): GetEmbeddedSignupConfigResponse {
  const { app_id } = signUpApp(settings);
  const { UPSTREAM_CONFIG_ID: config_id, UPSTREAM_FEATURE_TYPE: featureType } = settings;
  if (!config_id) throw notConfigured();
  return {
    app_id,
    config_id,
    connection_mode: 'coexistence',
    // The upstream's names, hence the mixed spelling.
    extras: {
      setup: {},
      featureType,
      sessionInfoVersion: SESSION_INFO_VERSION,
      version: SIGN_UP_VERSION,
    },
  };
}
