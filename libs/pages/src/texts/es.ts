import type { Texts } from './en';

export const es: Texts = {
  page: {
    secure: 'Pago seguro',
    stay: 'No volver a cargar esta página automáticamente',
    lookAgain: 'Consultar de nuevo',
  },
  purchase: { merchant: 'Comercio', card: 'Tarjeta', amount: 'Importe', order: 'Pedido' },

  cardEntry: {
    title: (merchant) => `Pago a ${merchant}`,
    titleOfErrors: (title) => `Error: ${title}`,
    heading: 'Pago con tarjeta',
    fields: {
      card_number: {
        label: 'Número de tarjeta',
        missing: 'Introduzca el número de la tarjeta.',
        invalid: 'Compruebe el número de la tarjeta. Es el número largo que figura en ella.',
      },
      card_exp: {
        label: 'Fecha de caducidad',
        hint: 'Mes y año, MM\u00a0/\u00a0AA',
        placeholder: 'MM / AA',
        missing: 'Introduzca la fecha de caducidad.',
        invalid: 'Introduzca el mes y el año de caducidad, por ejemplo, 09\u00a0/\u00a030.',
      },
      cvv: {
        label: 'Código de seguridad',
        hint: '3 o 4 cifras que figuran en la tarjeta',
        missing: 'Introduzca el código de seguridad.',
        invalid: 'El código de seguridad tiene 3 o 4 cifras.',
      },
      card_holder: {
        label: 'Nombre en la tarjeta',
        missing: 'Introduzca el nombre que figura en la tarjeta.',
        invalid: 'El nombre tiene entre 2 y 32 caracteres.',
      },
    },
    pay: (amount) => `Pagar ${amount}`,
    privacy: 'Los datos de su tarjeta se envían solo al servicio de pago, no al comercio.',
    errors: 'Revise los datos introducidos',
    testMode: {
      title: 'Modo de prueba',
      text: 'Aquí no se mueve dinero. No introduzca una tarjeta real.',
      realCard: 'Esta no es una tarjeta de prueba. No utilice aquí una tarjeta real.',
    },
    notAuthenticated: 'Su banco no ha podido confirmar su identidad.',
    declined: 'El pago ha sido rechazado.',
    declinedText: (left, all) =>
      `No se ha realizado ningún cargo. Revise los datos o utilice otra tarjeta. Intentos restantes: ${left} de ${all}.`,
    waiting: {
      title: 'Su pago se está procesando',
      text: 'Espere, por favor. Esta página consulta el resultado automáticamente; no pague por segunda vez.',
      notFinished: '¿Aún no ha terminado?',
      goOn: 'Continuar con la comprobación de su banco',
    },
    expired: {
      title: 'Esta página ha caducado',
      text: 'El plazo para pagar ha terminado. No se ha realizado ningún cargo.',
      back: 'Volver al comercio',
    },
    closedByMerchant: {
      title: 'Este pago se ha cerrado',
      text: 'El comercio ha cerrado esta página. No se ha realizado ningún cargo.',
    },
    closed: {
      title: 'No es posible realizar el pago',
      text: 'Este comercio no acepta pagos en este momento. No se ha realizado ningún cargo.',
    },
    unavailable: {
      title: 'Inténtelo de nuevo',
      text: 'El servicio de pago no ha podido aceptar su tarjeta en este momento. No se ha realizado ningún cargo.',
      again: 'Intentar de nuevo',
    },
    unknown: {
      title: 'Consulte de nuevo',
      text: 'Aún no se conoce el resultado de su pago. Vuelva a cargar esta página; no pague por segunda vez.',
    },
    notices: {
      notFound: {
        title: 'Página no encontrada',
        text: 'No hay ningún pago en esta dirección. Compruebe el enlace.',
      },
      wrongMethod: { title: 'Operación no posible', text: 'Esta página no se puede utilizar de ese modo.' },
      foreignForm: {
        title: 'Operación no posible',
        text: 'Este formulario se ha enviado desde otro sitio web y no se ha aceptado.',
      },
      notUnderstood: {
        title: 'Datos ilegibles',
        text: 'El formulario no ha llegado tal como se envió. Vuelva atrás e inténtelo de nuevo.',
      },
      tooSlow: { title: 'Inténtelo de nuevo', text: 'Sus datos han tardado demasiado en llegar.' },
    },
  },

  challenge: {
    start: {
      title: 'Confirme su pago',
      text: 'Su banco quiere asegurarse de que es usted. Continuará en la página del banco.',
      button: 'Continuar en la página de su banco',
    },
    back: {
      title: 'Volver al comercio',
      heading: 'Gracias',
      text: 'Continuará en la página del comercio.',
      button: 'Continuar',
    },
    waiting: {
      title: 'Un momento, por favor',
      text: 'Su banco está confirmando el pago. Después continuará automáticamente.',
    },
    outOfTime: {
      title: 'Se ha agotado el tiempo',
      text: 'El pago no se ha confirmado a tiempo. Ahora volverá a la página del comercio.',
      button: 'Continuar',
    },
    problems: {
      'unknown-page': {
        title: 'Esta página no existe',
        text: 'La dirección está incompleta o nunca ha sido válida. Vuelva al comercio e inténtelo de nuevo.',
      },
      'form-needed': {
        title: 'Esta página no se puede abrir así',
        text: 'Se abre desde la página del comercio. Vuelva a ella e inténtelo de nuevo.',
      },
      'wrong-form': {
        title: 'Esta solicitud no corresponde',
        text: 'La página del comercio ha enviado datos que no pertenecen a este pago. Vuelva a ella e inténtelo de nuevo.',
      },
      'wrong-return-address': {
        title: 'La dirección de vuelta no está permitida',
        text: 'La página del comercio quería enviarle a una dirección que aquí no se conoce; por eso permanece en esta página. En ella no se ha pagado nada.',
      },
      'wrong-challenge': {
        title: 'Esta confirmación no corresponde',
        text: 'Los datos enviados por su banco no pertenecen a este pago. El comercio le informará del estado de su pago.',
      },
      'no-return': {
        title: 'Esta confirmación ha terminado',
        text: 'El comercio le informará del estado de su pago.',
      },
      'wrong-method': {
        title: 'Esta página no se puede utilizar de ese modo',
        text: 'Vuelva al comercio e inténtelo de nuevo.',
      },
      unreadable: {
        title: 'Esta solicitud no se puede leer',
        text: 'Vuelva al comercio e inténtelo de nuevo.',
      },
      busy: {
        title: 'Está tardando más de lo habitual',
        text: 'No se ha perdido nada. Vuelva a cargar esta página dentro de unos segundos.',
      },
      broken: {
        title: 'Se ha producido un error',
        text: 'No se ha perdido nada. El comercio le informará del estado de su pago.',
      },
    },
  },

  issuer: {
    bank: 'Su banco',
    title: (heading) => `${heading} – Su banco`,
    challenge: {
      heading: 'Confirme su pago',
      text: 'Su banco quiere asegurarse de que es usted quien paga.',
      notice: 'Este es un banco de pruebas. Elija cómo termina la autenticación.',
    },
    decisions: {
      success: 'Confirmar el pago (correcto)',
      failure: 'No superar la autenticación',
      cancel: 'Cancelar',
    },
    answered: {
      heading: 'Ya ha respondido',
      text: (decision) => `Es válida su primera respuesta: ${decision}.`,
      button: 'Continuar',
    },
    unknown: {
      heading: 'Su banco no conoce este pago',
      text: 'Esta autenticación no existe o es demasiado antigua.',
    },
    refused: 'Su banco no puede continuar',
  },
};
