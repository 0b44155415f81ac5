/** The upstream takes at most as many contact cards in a message. */
export const CONTACT_CARDS_MAX = 257;
