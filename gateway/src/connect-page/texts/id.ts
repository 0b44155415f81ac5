import type { Texts } from './en';

export const id: Texts = {
  title: 'Hubungkan nomor Anda ke {partner}',
  permission:
    'Anda memberi {partner} izin untuk mengirim dan menerima pesan dengan nomor bisnis Anda. Anda tetap dapat memakai nomor itu di aplikasi bisnis di ponsel Anda.',
  steps: [
    'Tekan tombolnya. Jendela pendaftaran platform perpesanan akan terbuka.',
    'Masuk di sana, pilih bisnis dan nomor Anda, lalu konfirmasi di ponsel Anda.',
    'Kembali ke halaman ini. Koneksi akan selesai dengan sendirinya.',
  ],
  connect: 'Hubungkan nomor saya',
  reload: 'Muat ulang halaman',
  close: 'Tutup jendela ini',
  try_again: 'Coba lagi',
  preparing: 'Menyiapkan pendaftaran…',
  no_javascript:
    'Halaman ini memerlukan JavaScript. Aktifkan di peramban Anda lalu muat ulang halaman.',
  code: 'Kode:',
  ready: 'Siap. Pendaftaran terbuka di jendela baru.',
  dialog_open: 'Pendaftaran terbuka di jendela lain. Silakan selesaikan di sana.',
  script_blocked:
    'Pendaftaran platform perpesanan tidak dapat dimuat. Pemblokir konten, jendela pribadi, atau jaringan perusahaan mungkin menghalanginya. Izinkan halaman ini, atau gunakan peramban lain, lalu muat ulang.',
  popup_blocked:
    'Peramban Anda memblokir jendela pendaftaran. Izinkan jendela pop-up untuk halaman ini, lalu tekan tombol lagi.',
  dialog_failed: 'Pendaftaran berakhir dengan kesalahan: {message}',
  no_code: 'Pendaftaran selesai, tetapi izinnya tidak kami terima. Silakan coba lagi.',
  dialog_closed:
    'Pendaftaran ditutup sebelum selesai. Tidak ada yang terhubung. Anda dapat mencoba lagi.',
  connecting:
    'Menghubungkan nomor Anda. Ini perlu beberapa detik: biarkan halaman ini tetap terbuka.',
  not_connected: 'Nomor Anda tidak dapat dihubungkan.',
  done: 'Selesai. {name} sudah terhubung. Anda dapat menutup jendela ini.',
  your_number: 'Nomor Anda',
  failures: {
    CODE_EXCHANGE_FAILED:
      'Konfirmasi pendaftaran terlambat atau sudah pernah dipakai. Silakan coba lagi.',
    DISCOVERY_FAILED:
      'Pendaftaran berakhir tanpa akun bisnis atau nomor. Silakan coba lagi dan pilih keduanya di jendela pendaftaran.',
    UNAUTHORIZED:
      'Tautan ini sudah dipakai atau sudah kedaluwarsa. Silakan minta yang baru kepada penyedia Anda.',
    WABA_LIMIT_REACHED:
      'Penyedia Anda saat ini tidak dapat menghubungkan bisnis lain. Silakan beri tahu penyedia Anda.',
    PLATFORM_NOT_CONFIGURED:
      'Fitur untuk menghubungkan nomor belum disiapkan. Silakan beri tahu penyedia Anda.',
    UPSTREAM_ERROR: 'Platform perpesanan menolak koneksi. Silakan coba beberapa saat lagi.',
    NO_ANSWER: 'Layanan tidak dapat dihubungi. Periksa koneksi Anda lalu coba lagi.',
  },
  other_failure:
    'Terjadi kesalahan di pihak kami. Silakan coba beberapa saat lagi. Jika terjadi lagi, beri tahu penyedia Anda.',
  notices: {
    incomplete: {
      title: 'Tautan ini tidak lengkap',
      text: 'Buka tautan persis seperti yang Anda terima, atau minta yang baru kepada penyedia Anda.',
    },
    expired: {
      title: 'Tautan ini sudah tidak berlaku',
      text: 'Tautan untuk menghubungkan nomor berlaku selama 30 menit. Silakan minta yang baru kepada penyedia Anda.',
    },
    used: {
      title: 'Tautan ini sudah dipakai',
      text: 'Tautan ini telah dipakai untuk menghubungkan sebuah nomor. Jika ada yang kurang, minta tautan baru kepada penyedia Anda.',
    },
    unknown_key: {
      title: 'Tautan ini tidak berlaku',
      text: 'Kunci dalam tautan ini tidak dikenal. Silakan minta tautan baru kepada penyedia Anda.',
    },
    blocked: {
      title: 'Tautan ini tidak dapat dipakai',
      text: 'Silakan hubungi penyedia Anda.',
    },
    not_configured: {
      title: 'Fitur untuk menghubungkan nomor belum disiapkan',
      text: 'Layanan yang dipakai penyedia Anda belum siap. Silakan beri tahu penyedia Anda.',
    },
    fault: {
      title: 'Terjadi kesalahan',
      text: 'Muat ulang halaman beberapa saat lagi. Jika masalah berlanjut, beri tahu penyedia Anda.',
    },
  },
};
