// The complete route table, one list per area of the platform.
import type { Route } from '../core';
import { accountRoutes } from './account';
import { blockingRoutes } from './blocking';
import { callRoutes } from './calls';
import { groupRoutes } from './groups';
import { mediaRoutes } from './media';
import { messageHistoryRoutes } from './message-history';
import { messageRoutes } from './messages';
import { numberRoutes } from './number';
import { numberSettingRoutes } from './number-settings';
import { onboardingRoutes } from './onboarding';
import { profileRoutes } from './profile';
import { qrCodeRoutes } from './qr-codes';
import { templateLibraryRoutes } from './template-library';
import { templateRoutes } from './templates';
import { uploadRoutes } from './uploads';

export const routes: readonly Route[] = [
  ...onboardingRoutes,
  ...messageRoutes,
  ...messageHistoryRoutes,
  ...mediaRoutes,
  ...uploadRoutes,
  ...templateRoutes,
  ...templateLibraryRoutes,
  ...numberRoutes,
  ...profileRoutes,
  ...qrCodeRoutes,
  ...numberSettingRoutes,
  ...blockingRoutes,
  ...accountRoutes,
  ...groupRoutes,
  ...callRoutes,
];
