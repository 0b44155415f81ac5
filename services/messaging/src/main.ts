import { loadConfig } from '@bmg/common/config';
import { run } from '@bmg/common/lifecycle';
import { settings } from './config';
import { createMessaging } from './service';

run(() => createMessaging(loadConfig(settings, process.env)));
