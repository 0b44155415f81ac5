// Plain words for the upstream's codes of failed messages; the reference describes all of them.
const REASONS: Record<string, string> = {
  130429: 'the number sent too fast',
  130472: 'the person is part of a marketing experiment of the platform',
  131026: 'the message cannot be delivered to this person',
  131042: 'the client has a billing problem at the platform',
  131047: 'more than 24 hours since the person last wrote',
  131048: 'the platform limits the number because of spam',
  131049: 'held back by the platform: the person gets much marketing',
  131050: 'the person does not want marketing from this business',
  131053: 'the media file could not be used',
  131056: 'too many messages to this person in a short time',
  132000: 'the number of template values is wrong',
  132001: 'the template does not exist in this language, or is not approved',
  132012: 'a template value has the wrong format',
  132015: 'the template is paused',
  132016: 'the template is disabled',
};

export const reasonOf = (code: string): string | undefined => REASONS[code];
