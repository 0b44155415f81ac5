import type { Texts } from './en';

export const es: Texts = {
  title: 'Conecte su número con {partner}',
  permission:
    'Usted autoriza a {partner} a enviar y recibir mensajes con su número de empresa. Puede seguir usando el número en la aplicación para empresas de su teléfono.',
  steps: [
    'Pulse el botón. Se abre una ventana de registro de la plataforma de mensajería.',
    'Inicie sesión allí, elija su empresa y su número, y confirme en su teléfono.',
    'Vuelva a esta página. La conexión se completa sola.',
  ],
  connect: 'Conectar mi número',
  reload: 'Volver a cargar la página',
  close: 'Cerrar esta ventana',
  try_again: 'Intentarlo de nuevo',
  preparing: 'Preparando el registro…',
  no_javascript: 'Esta página necesita JavaScript. Actívelo en su navegador y vuelva a cargarla.',
  code: 'Código:',
  ready: 'Listo. El registro se abre en una ventana nueva.',
  dialog_open: 'El registro está abierto en otra ventana. Complételo allí, por favor.',
  script_blocked:
    'No se pudo cargar el registro de la plataforma de mensajería. Puede deberse a un bloqueador de contenido, a una ventana de navegación privada o a la red de una empresa. Permita el contenido de esta página o use otro navegador, y vuelva a cargarla.',
  popup_blocked:
    'Su navegador ha bloqueado la ventana de registro. Permita las ventanas emergentes en esta página y pulse de nuevo el botón.',
  dialog_failed: 'El registro terminó con un error: {message}',
  no_code: 'El registro terminó, pero la autorización no llegó. Inténtelo de nuevo, por favor.',
  dialog_closed:
    'El registro se cerró antes de terminar. No se ha conectado nada. Puede intentarlo de nuevo.',
  connecting: 'Conectando su número. Tarda unos segundos: deje esta página abierta, por favor.',
  not_connected: 'No se pudo conectar su número.',
  done: 'Listo. Se ha conectado {name}. Puede cerrar esta ventana.',
  your_number: 'Su número',
  failures: {
    CODE_EXCHANGE_FAILED:
      'La confirmación del registro llegó tarde o ya se había usado. Inténtelo de nuevo, por favor.',
    DISCOVERY_FAILED:
      'El registro terminó sin una cuenta de empresa o sin un número. Inténtelo de nuevo y elija ambos en la ventana de registro.',
    UNAUTHORIZED:
      'Este enlace ya se usó o es demasiado antiguo. Pida uno nuevo a su proveedor, por favor.',
    WABA_LIMIT_REACHED:
      'Su proveedor no puede conectar más empresas en este momento. Avise a su proveedor, por favor.',
    PLATFORM_NOT_CONFIGURED:
      'La conexión de números aún no está configurada. Avise a su proveedor, por favor.',
    UPSTREAM_ERROR:
      'La plataforma de mensajería rechazó la conexión. Inténtelo de nuevo dentro de un momento.',
    NO_ANSWER: 'No se pudo contactar con el servicio. Revise su conexión e inténtelo de nuevo.',
  },
  other_failure:
    'Se ha producido un error por nuestra parte. Inténtelo de nuevo dentro de un momento. Si se repite, avise a su proveedor.',
  notices: {
    incomplete: {
      title: 'Este enlace no está completo',
      text: 'Abra el enlace tal como lo recibió o pida uno nuevo a su proveedor.',
    },
    expired: {
      title: 'Este enlace ya no es válido',
      text: 'Los enlaces para conectar un número son válidos durante 30 minutos. Pida uno nuevo a su proveedor, por favor.',
    },
    used: {
      title: 'Este enlace ya se ha usado',
      text: 'Ya se conectó un número con él. Si falta algo, pida un enlace nuevo a su proveedor, por favor.',
    },
    unknown_key: {
      title: 'Este enlace no es válido',
      text: 'No se reconoce la clave de este enlace. Pida un enlace nuevo a su proveedor, por favor.',
    },
    blocked: {
      title: 'Este enlace no se puede usar',
      text: 'Consulte con su proveedor, por favor.',
    },
    not_configured: {
      title: 'La conexión de números aún no está configurada',
      text: 'El servicio que usa su proveedor todavía no está preparado. Avise a su proveedor, por favor.',
    },
    fault: {
      title: 'Se ha producido un error',
      text: 'Vuelva a cargar la página dentro de un momento. Si el problema continúa, avise a su proveedor.',
    },
  },
};
