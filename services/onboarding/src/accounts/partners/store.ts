// The picture of each partner's sign-up page, found by the hash of its bytes.
import { Binary, type Db } from 'mongodb';
import type { Indexes } from '@bmg/common/mongo';

export interface Logo {
  partner_id: string;
  /** Hash of the picture, part of its address: browsers keep it for ever. */
  logo_id: string;
  type: string;
  data: Buffer;
}

export type PartnerLogos = ReturnType<typeof createPartnerLogos>;

interface StoredLogo {
  _id: string;
  logo_id: string;
  type: string;
  data: Binary;
}

const PARTNER_LOGOS = 'partner_logos';
export const partnerLogoIndexes: Indexes = {
  [PARTNER_LOGOS]: [{ key: { logo_id: 1 } }],
};

export function createPartnerLogos(db: Db) {
  const logos = db.collection<StoredLogo>(PARTNER_LOGOS);
  return {
    /** Replaces the partner's picture. */
    async set({ partner_id, logo_id, type, data }: Logo) {
      const stored = { logo_id, type, data: new Binary(data) };
      await logos.replaceOne({ _id: partner_id }, stored, { upsert: true });
    },
    remove: (partner_id: string) => logos.deleteOne({ _id: partner_id }),
    async find(logo_id: string) {
      const found = await logos.findOne({ logo_id });
      if (!found) return null;
      const { _id, data, ...logo } = found;
      return { partner_id: _id, ...logo, data: Buffer.from(data.buffer) };
    },
  };
}
