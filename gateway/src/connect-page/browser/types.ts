// The shapes of the hosted onboarding page: its data, what the dialog of the platform sends, and
// what the service returns.

/** The texts of the page, in the language of the browser. */
export interface PageTexts {
  try_again: string;
  ready: string;
  dialog_open: string;
  script_blocked: string;
  popup_blocked: string;
  /** Contains `{message}`. */
  dialog_failed: string;
  no_code: string;
  dialog_closed: string;
  connecting: string;
  not_connected: string;
  /** Contains `{name}`. */
  done: string;
  your_number: string;
  /** Why a registration failed, by error code. */
  failures: Record<string, string>;
  other_failure: string;
}

/** The data that the server writes into the page's data attribute. */
export interface PageConfig {
  texts: PageTexts;
  token: string;
  app_id: string;
  config_id: string;
  extras: Record<string, unknown>;
  api_version: string;
  sdk_url: string;
  /** The partner's own text; it is on every message to the opener. */
  state: string | null;
  /** The only origin that gets messages, as the partner's server gave it. */
  origin: string | null;
  /** The partner's pages to which this one leads after an outcome. */
  success_url: string | null;
  failure_url: string | null;
}

/** The configuration of a notice, which says why the link cannot be used. */
export interface NoticeConfig {
  state: string | null;
  origin: string | null;
  code: string;
  message: string;
}

/** The part of the platform's script that this page uses. */
export interface Sdk {
  init(options: object): void;
  login(answer: (response: LoginResponse | null) => void, options: object): void;
}

export interface LoginResponse {
  authResponse?: { code?: string } | null;
}

/** The messages of the platform's dialog to this window, beside its answer to `login`. */
export interface DialogMessage {
  type?: string;
  event?: string;
  data?: Record<string, unknown>;
}

/** One opening of the dialog. */
export interface SignUp {
  /** First half of the answer: from the callback of `login`. */
  code?: string;
  /** Second half of the answer: from a message of the dialog. The code is enough without it. */
  account?: { waba_id: string | undefined; phone_number_id: string | undefined };
  /** The error that the dialog reported. */
  problem?: { code: string | null; message: string; session: string | null };
  /** The step of the dialog that the person had reached. */
  step: string | null;
  registering: boolean;
  ended: boolean;
}

export type Registration =
  | { success: true; client: Client }
  | { success: false; error: { code: string; message: string; retryable: boolean } };

export interface Client {
  waba_id: string;
  phone_number_id: string;
  phone_number: string;
  display_name: string;
  quality_rating: string;
  connection_mode: string;
}
