import { loadConfig } from '@bmg/common/config';
import { run } from '@bmg/common/lifecycle';
import { settings } from './config';
import { createGateway } from './service';

run(() => createGateway(loadConfig(settings, process.env)));
