import { createByteRate, createTransferPool } from '@bmg/common/overload';
import { implementPart } from '@bmg/common/rpc';
import type { Feature } from '@bmg/common/service';
import { MessagingDefinition, UploadMediaResponse } from '@bmg/proto/messaging';
import type { Dependencies } from '../dependencies';
import { uploadedOnce } from '../send';
import { DOWNLOAD_BYTES_PER_S, downloadMedia, DOWNLOADS_MAX } from './download';
import { createMediaHosts } from './hosts';
import { uploadMedia } from './upload';

export function media(deps: Dependencies): Feature {
  const downloading = {
    ...deps,
    downloads: createTransferPool(
      { server: 'media', reason: 'downloads', holder: 'partner', max: DOWNLOADS_MAX },
      deps.log,
    ),
    downloadRate: createByteRate(DOWNLOAD_BYTES_PER_S),
    mediaHosts: createMediaHosts(deps.config),
  };
  return {
    rpcs: [
      implementPart(MessagingDefinition, {
        uploadMedia: deps.once(
          (request, call) => uploadedOnce(uploadMedia(deps, request, call), call),
          { codec: UploadMediaResponse },
        ),
        downloadMedia: (request, call) => downloadMedia(downloading, request, call),
      }),
    ],
  };
}
