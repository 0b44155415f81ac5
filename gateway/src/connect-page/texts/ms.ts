import type { Texts } from './en';

export const ms: Texts = {
  title: 'Sambungkan nombor anda ke {partner}',
  permission:
    'Anda memberi {partner} kebenaran untuk menghantar dan menerima mesej dengan nombor perniagaan anda. Anda masih boleh menggunakan nombor itu dalam aplikasi perniagaan di telefon anda.',
  steps: [
    'Tekan butang itu. Tetingkap pendaftaran platform pemesejan akan dibuka.',
    'Log masuk di sana, pilih perniagaan dan nombor anda, dan sahkan di telefon anda.',
    'Kembali ke halaman ini. Sambungan akan selesai dengan sendirinya.',
  ],
  connect: 'Sambungkan nombor saya',
  reload: 'Muat semula halaman',
  close: 'Tutup tetingkap ini',
  try_again: 'Cuba lagi',
  preparing: 'Menyediakan pendaftaran…',
  no_javascript:
    'Halaman ini memerlukan JavaScript. Hidupkannya dalam pelayar anda dan muat semula halaman.',
  code: 'Kod:',
  ready: 'Sedia. Pendaftaran dibuka dalam tetingkap baharu.',
  dialog_open: 'Pendaftaran dibuka dalam tetingkap lain. Sila selesaikan di sana.',
  script_blocked:
    'Pendaftaran platform pemesejan tidak dapat dimuatkan. Penyekat kandungan, tetingkap persendirian atau rangkaian syarikat mungkin menghalangnya. Benarkan halaman ini, atau gunakan pelayar lain, dan muat semula.',
  popup_blocked:
    'Pelayar anda menyekat tetingkap pendaftaran. Benarkan tetingkap timbul untuk halaman ini, kemudian tekan butang sekali lagi.',
  dialog_failed: 'Pendaftaran berakhir dengan ralat: {message}',
  no_code: 'Pendaftaran selesai, tetapi kebenaran itu tidak kami terima. Sila cuba lagi.',
  dialog_closed:
    'Pendaftaran ditutup sebelum selesai. Tiada apa-apa disambungkan. Anda boleh cuba lagi.',
  connecting:
    'Menyambungkan nombor anda. Ini mengambil beberapa saat: sila biarkan halaman ini terbuka.',
  not_connected: 'Nombor anda tidak dapat disambungkan.',
  done: 'Selesai. {name} telah disambungkan. Anda boleh menutup tetingkap ini.',
  your_number: 'Nombor anda',
  failures: {
    CODE_EXCHANGE_FAILED:
      'Pengesahan pendaftaran terlalu lewat atau telah digunakan. Sila cuba lagi.',
    DISCOVERY_FAILED:
      'Pendaftaran berakhir tanpa akaun perniagaan atau nombor. Sila cuba lagi dan pilih kedua-duanya dalam tetingkap pendaftaran.',
    UNAUTHORIZED:
      'Pautan ini telah digunakan atau sudah tamat tempoh. Sila minta yang baharu daripada penyedia anda.',
    WABA_LIMIT_REACHED:
      'Penyedia anda tidak dapat menyambungkan lebih banyak perniagaan buat masa ini. Sila maklumkan penyedia anda.',
    PLATFORM_NOT_CONFIGURED:
      'Fungsi untuk menyambungkan nombor belum disediakan. Sila maklumkan penyedia anda.',
    UPSTREAM_ERROR: 'Platform pemesejan menolak sambungan. Sila cuba lagi sebentar nanti.',
    NO_ANSWER: 'Perkhidmatan tidak dapat dihubungi. Semak sambungan anda dan cuba lagi.',
  },
  other_failure:
    'Ralat berlaku di pihak kami. Sila cuba lagi sebentar nanti. Jika ia berulang, maklumkan penyedia anda.',
  notices: {
    incomplete: {
      title: 'Pautan ini tidak lengkap',
      text: 'Buka pautan tepat seperti yang anda terima, atau minta yang baharu daripada penyedia anda.',
    },
    expired: {
      title: 'Pautan ini tidak sah lagi',
      text: 'Pautan untuk menyambungkan nombor sah selama 30 minit. Sila minta yang baharu daripada penyedia anda.',
    },
    used: {
      title: 'Pautan ini telah digunakan',
      text: 'Pautan ini telah digunakan untuk menyambungkan satu nombor. Jika ada yang kurang, minta pautan baharu daripada penyedia anda.',
    },
    unknown_key: {
      title: 'Pautan ini tidak sah',
      text: 'Kunci dalam pautan ini tidak dikenali. Sila minta pautan baharu daripada penyedia anda.',
    },
    blocked: {
      title: 'Pautan ini tidak boleh digunakan',
      text: 'Sila hubungi penyedia anda.',
    },
    not_configured: {
      title: 'Fungsi untuk menyambungkan nombor belum disediakan',
      text: 'Perkhidmatan yang digunakan penyedia anda belum sedia. Sila maklumkan penyedia anda.',
    },
    fault: {
      title: 'Ralat berlaku',
      text: 'Muat semula halaman sebentar nanti. Jika masalah berterusan, maklumkan penyedia anda.',
    },
  },
};
