// The picture of each partner's sign-up page, found by the hash of its bytes.
import { Binary, type Db, type IndexDescription } from 'mongodb';

export interface Logo {
  partner_id: string;
  /** Hash of the picture, part of its address: browsers keep it for ever. */
  logo_id: string;
  type: string;
  data: Buffer;
}

export interface PartnerLogos {
  /** Replaces the partner's picture. */
  set(logo: Logo): Promise<void>;
  remove(partner_id: string): Promise<void>;
  find(logo_id: string): Promise<Logo | null>;
}

interface StoredLogo {
  _id: string;
  logo_id: string;
  type: string;
  data: Binary;
}

export const PARTNER_LOGOS = 'partner_logos';
export const partnerLogoIndexes: IndexDescription[] = [{ key: { logo_id: 1 } }];

export function createPartnerLogos(db: Db): PartnerLogos {
  const logos = db.collection<StoredLogo>(PARTNER_LOGOS);
  return {
    async set({ partner_id, logo_id, type, data }) {
      const stored = { logo_id, type, data: new Binary(data) };
      await logos.replaceOne({ _id: partner_id }, stored, { upsert: true });
    },
    async remove(partner_id) {
      await logos.deleteOne({ _id: partner_id });
    },
    async find(logo_id) {
      const found = await logos.findOne({ logo_id });
      if (!found) return null;
      const { _id, data, ...logo } = found;
      return { partner_id: _id, ...logo, data: Buffer.from(data.buffer) };
    },
  };
}
