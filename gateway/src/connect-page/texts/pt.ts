import type { Texts } from './en';

export const pt: Texts = {
  title: 'Conecte o seu número a {partner}',
  permission:
    'Você autoriza {partner} a enviar e receber mensagens com o seu número comercial. Você continua usando o número no aplicativo comercial do seu telefone.',
  steps: [
    'Pressione o botão. Uma janela de cadastro da plataforma de mensagens será aberta.',
    'Entre na sua conta, escolha a sua empresa e o seu número e confirme no seu telefone.',
    'Volte a esta página. Ela conclui a conexão sozinha.',
  ],
  connect: 'Conectar o meu número',
  reload: 'Carregar a página novamente',
  close: 'Fechar esta janela',
  try_again: 'Tentar novamente',
  preparing: 'Preparando o cadastro…',
  no_javascript:
    'Esta página precisa de JavaScript. Ative-o no seu navegador e carregue a página novamente.',
  code: 'Código:',
  ready: 'Pronto. O cadastro será aberto em uma nova janela.',
  dialog_open: 'O cadastro está aberto em outra janela. Conclua-o lá, por favor.',
  script_blocked:
    'Não foi possível carregar o cadastro da plataforma de mensagens. A causa pode ser um bloqueador de conteúdo, uma janela de navegação privada ou a rede de uma empresa. Permita o conteúdo desta página ou use outro navegador e carregue a página novamente.',
  popup_blocked:
    'O seu navegador bloqueou a janela de cadastro. Permita janelas pop-up nesta página e pressione o botão novamente.',
  dialog_failed: 'O cadastro terminou com um erro: {message}',
  no_code: 'O cadastro terminou, mas a autorização não chegou. Tente novamente, por favor.',
  dialog_closed:
    'O cadastro foi fechado antes de ser concluído. Nada foi conectado. Você pode tentar novamente.',
  connecting:
    'Conectando o seu número. Isso leva alguns segundos: deixe esta página aberta, por favor.',
  not_connected: 'Não foi possível conectar o seu número.',
  done: 'Pronto. A conexão de {name} foi concluída. Você pode fechar esta janela.',
  your_number: 'O seu número',
  failures: {
    CODE_EXCHANGE_FAILED:
      'A confirmação do cadastro chegou tarde demais ou já tinha sido usada. Tente novamente, por favor.',
    DISCOVERY_FAILED:
      'O cadastro terminou sem uma conta comercial ou sem um número. Tente novamente e escolha os dois na janela de cadastro.',
    UNAUTHORIZED:
      'Este link já foi usado ou é antigo demais. Peça um novo ao seu fornecedor, por favor.',
    WABA_LIMIT_REACHED:
      'O seu fornecedor não pode conectar mais empresas no momento. Avise o seu fornecedor, por favor.',
    PLATFORM_NOT_CONFIGURED:
      'A conexão de números ainda não está configurada. Avise o seu fornecedor, por favor.',
    UPSTREAM_ERROR:
      'A plataforma de mensagens recusou a conexão. Tente novamente em instantes, por favor.',
    NO_ANSWER: 'Não foi possível acessar o serviço. Verifique a sua conexão e tente novamente.',
  },
  other_failure:
    'Algo deu errado do nosso lado. Tente novamente em instantes. Se acontecer de novo, avise o seu fornecedor.',
  notices: {
    incomplete: {
      title: 'Este link não está completo',
      text: 'Abra o link exatamente como o recebeu ou peça um novo ao seu fornecedor.',
    },
    expired: {
      title: 'Este link não é mais válido',
      text: 'Os links para conectar um número valem por 30 minutos. Peça um novo ao seu fornecedor, por favor.',
    },
    used: {
      title: 'Este link já foi usado',
      text: 'Ele já foi usado para conectar um número. Se faltar algo, peça um novo link ao seu fornecedor, por favor.',
    },
    unknown_key: {
      title: 'Este link não é válido',
      text: 'A chave deste link não foi reconhecida. Peça um novo link ao seu fornecedor, por favor.',
    },
    blocked: {
      title: 'Este link não pode ser usado',
      text: 'Fale com o seu fornecedor, por favor.',
    },
    not_configured: {
      title: 'A conexão de números ainda não está configurada',
      text: 'O serviço que o seu fornecedor usa ainda não está pronto. Avise o seu fornecedor, por favor.',
    },
    fault: {
      title: 'Algo deu errado',
      text: 'Carregue a página novamente em instantes. Se o problema continuar, avise o seu fornecedor.',
    },
  },
};
