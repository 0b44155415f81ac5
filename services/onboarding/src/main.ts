import { loadConfig } from '@bmg/common/config';
import { run } from '@bmg/common/lifecycle';
import { settings } from './config';
import { createOnboarding } from './service';

run(() => createOnboarding(loadConfig(settings, process.env)));
