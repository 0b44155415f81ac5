import { createByteRate, createTransferPool } from '@bmg/common/overload';
import type { Handlers } from '@bmg/common/rpc';
import type { MessagingDefinition } from '@bmg/proto/messaging';
import type { Config } from '../config';
import type { Dependencies } from '../dependencies';
import { uploadedOnce } from '../send/outcome-errors';
import { DOWNLOAD_BYTES_PER_S, downloadMedia, DOWNLOADS_MAX } from './download';
import { createMediaHosts } from './hosts';
import { uploadMedia } from './upload';

export interface MediaFeature {
  handlers: Pick<Handlers<MessagingDefinition>, 'uploadMedia' | 'downloadMedia'>;
}

export function wireMedia(deps: Dependencies, config: Config): MediaFeature {
  const downloading = {
    ...deps,
    downloads: createTransferPool(
      { server: 'media', reason: 'downloads', holder: 'partner', max: DOWNLOADS_MAX },
      deps.log,
    ),
    downloadRate: createByteRate(DOWNLOAD_BYTES_PER_S),
    mediaHosts: createMediaHosts(config),
  };
  return {
    handlers: {
      uploadMedia: (q, call) => uploadedOnce(uploadMedia(deps, q, call), call),
      downloadMedia: (q, call) => downloadMedia(downloading, q, call),
    },
  };
}
