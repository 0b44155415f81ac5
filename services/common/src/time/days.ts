// Days of UTC as text, YYYY-MM-DD.

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** The first moment of a day. */
export const dayStart = (day: string): Date => new Date(`${day}T00:00:00.000Z`);

/** True for a day that exists. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && dayStart(text).toJSON()?.slice(0, 10) === text;
