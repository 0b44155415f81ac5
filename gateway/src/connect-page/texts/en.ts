/** `{partner}` stands for the partner's name; the notices say why a link cannot be used. */
export const en = {
  title: 'Connect your number to {partner}',
  permission:
    'You give {partner} permission to send and receive messages with your business number. You keep using the number in the business app on your phone.',
  steps: [
    'Press the button. A sign-up window of the messaging platform opens.',
    'Log in there, choose your business and your number, and confirm on your phone.',
    'Come back to this page. It completes the connection by itself.',
  ],
  connect: 'Connect my number',
  reload: 'Load the page again',
  close: 'Close this window',
  try_again: 'Try again',
  preparing: 'Getting the sign-up ready…',
  no_javascript:
    'This page needs JavaScript. Switch it on in your browser and load the page again.',
  code: 'Code:',
  ready: 'Ready. The sign-up opens in a new window.',
  dialog_open: 'The sign-up is open in another window. Please finish it there.',
  script_blocked:
    'The sign-up of the messaging platform could not be loaded. A content blocker, a private window or a company network may be in the way. Allow this page, or use another browser, and load it again.',
  popup_blocked:
    'Your browser has blocked the sign-up window. Allow pop-up windows for this page, then press the button again.',
  dialog_failed: 'The sign-up ended with an error: {message}',
  no_code: 'The sign-up finished, but the permission did not arrive. Please try again.',
  dialog_closed:
    'The sign-up was closed before it was finished. Nothing was connected. You can try again.',
  connecting: 'Connecting your number. This takes a few seconds: please leave this page open.',
  not_connected: 'Your number could not be connected.',
  done: 'Done. {name} is connected. You can close this window.',
  your_number: 'Your number',
  failures: {
    CODE_EXCHANGE_FAILED:
      'The confirmation of the sign-up came too late or was used before. Please try again.',
    DISCOVERY_FAILED:
      'The sign-up ended without a business account or a number. Please try again, and choose both in the sign-up window.',
    UNAUTHORIZED: 'This link has been used or is too old. Please ask your provider for a new one.',
    WABA_LIMIT_REACHED:
      'Your provider cannot connect more businesses at the moment. Please tell your provider.',
    PLATFORM_NOT_CONFIGURED: 'Connecting numbers is not set up yet. Please tell your provider.',
    UPSTREAM_ERROR: 'The messaging platform refused the connection. Please try again in a moment.',
    NO_ANSWER: 'The service could not be reached. Please check your connection and try again.',
  },
  other_failure:
    'Something went wrong on our side. Please try again in a moment. If it happens again, tell your provider.',
  notices: {
    incomplete: {
      title: 'This link is not complete',
      text: 'Open the link exactly as you got it, or ask your provider for a new one.',
    },
    expired: {
      title: 'This link is not valid any more',
      text: 'Links to connect a number work for 30 minutes. Please ask your provider for a new one.',
    },
    used: {
      title: 'This link has been used',
      text: 'A number was connected with it. If something is missing, please ask your provider for a new link.',
    },
    unknown_key: {
      title: 'This link is not valid',
      text: 'The key in this link is not known. Please ask your provider for a new link.',
    },
    blocked: { title: 'This link cannot be used', text: 'Please ask your provider.' },
    not_configured: {
      title: 'Connecting numbers is not set up yet',
      text: 'The service that your provider uses is not ready for this. Please tell your provider.',
    },
    fault: {
      title: 'Something went wrong',
      text: 'Please load the page again in a moment. If it stays like this, tell your provider.',
    },
  },
};

export type Texts = typeof en;
