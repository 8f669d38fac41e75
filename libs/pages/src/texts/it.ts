import type { Texts } from './en';

export const it: Texts = {
  page: {
    secure: 'Pagamento sicuro',
    stay: 'Non ricaricare più la pagina automaticamente',
    lookAgain: 'Verifica di nuovo',
  },
  purchase: { merchant: 'Esercente', card: 'Carta', amount: 'Importo', order: 'Ordine' },

  cardEntry: {
    title: (merchant) => `Pagamento a ${merchant}`,
    titleOfErrors: (title) => `Errore: ${title}`,
    heading: 'Pagamento con carta',
    fields: {
      card_number: {
        label: 'Numero della carta',
        missing: 'Inserisca il numero della carta.',
        invalid: 'Verifichi il numero della carta. È il numero lungo riportato sulla carta.',
      },
      card_exp: {
        label: 'Data di scadenza',
        hint: 'Mese e anno, MM\u00a0/\u00a0AA',
        placeholder: 'MM / AA',
        missing: 'Inserisca la data di scadenza.',
        invalid: 'Inserisca mese e anno di scadenza, ad esempio 09\u00a0/\u00a030.',
      },
      cvv: {
        label: 'Codice di sicurezza',
        hint: '3 o 4 cifre riportate sulla carta',
        missing: 'Inserisca il codice di sicurezza.',
        invalid: 'Il codice di sicurezza è composto da 3 o 4 cifre.',
      },
      card_holder: {
        label: 'Nome sulla carta',
        missing: 'Inserisca il nome riportato sulla carta.',
        invalid: 'Il nome è composto da 2 a 32 caratteri.',
      },
    },
    pay: (amount) => `Paga ${amount}`,
    privacy: 'I dati della Sua carta vengono trasmessi solo al servizio di pagamento, non all’esercente.',
    errors: 'Verifichi i dati inseriti',
    testMode: {
      title: 'Modalità di prova',
      text: 'Qui non si muove denaro. Non inserisca una carta reale.',
      realCard: 'Questa non è una carta di prova. Non utilizzi qui una carta reale.',
    },
    notAuthenticated: 'La Sua banca non ha potuto confermare la Sua identità.',
    declined: 'Il pagamento è stato rifiutato.',
    declinedText: (left, all) =>
      `Non è stato addebitato alcun importo. Verifichi i dati o utilizzi un’altra carta. Tentativi rimasti: ${left} su ${all}.`,
    waiting: {
      title: 'Il Suo pagamento è in corso di elaborazione',
      text: 'Attenda, per favore. Questa pagina verifica l’esito automaticamente; non paghi una seconda volta.',
      notFinished: 'Non ha ancora terminato?',
      goOn: 'Prosegui con la verifica della banca',
    },
    expired: {
      title: 'Questa pagina è scaduta',
      text: 'Il tempo per il pagamento è terminato. Non è stato addebitato alcun importo.',
      back: 'Torna al sito dell’esercente',
    },
    closedByMerchant: {
      title: 'Questo pagamento è stato chiuso',
      text: 'L’esercente ha chiuso questa pagina. Non è stato addebitato alcun importo.',
    },
    closed: {
      title: 'Pagamento non possibile',
      text: 'Al momento questo esercente non accetta pagamenti. Non è stato addebitato alcun importo.',
    },
    unavailable: {
      title: 'La preghiamo di riprovare',
      text: 'Al momento il servizio di pagamento non ha potuto accettare la Sua carta. Non è stato addebitato alcun importo.',
      again: 'Riprova',
    },
    unknown: {
      title: 'La preghiamo di verificare di nuovo',
      text: 'L’esito del Suo pagamento non è ancora noto. Ricarichi questa pagina; non paghi una seconda volta.',
    },
    notices: {
      notFound: {
        title: 'Pagina non trovata',
        text: 'A questo indirizzo non risulta alcun pagamento. Verifichi il link.',
      },
      wrongMethod: {
        title: 'Operazione non possibile',
        text: 'Questa pagina non può essere utilizzata in questo modo.',
      },
      foreignForm: {
        title: 'Operazione non possibile',
        text: 'Questo modulo è stato inviato da un altro sito e non è stato accettato.',
      },
      notUnderstood: {
        title: 'Dati non leggibili',
        text: 'Il modulo non è arrivato così come è stato inviato. Torni indietro e riprovi.',
      },
      tooSlow: {
        title: 'La preghiamo di riprovare',
        text: 'L’invio dei Suoi dati ha richiesto troppo tempo.',
      },
    },
  },

  challenge: {
    start: {
      title: 'Confermi il Suo pagamento',
      text: 'La Sua banca desidera accertarsi che sia Lei. Proseguirà sulla pagina della banca.',
      button: 'Prosegui sul sito della banca',
    },
    back: {
      title: 'Ritorno al sito dell’esercente',
      heading: 'Grazie',
      text: 'Proseguirà sul sito dell’esercente.',
      button: 'Continua',
    },
    waiting: {
      title: 'Un momento, per favore',
      text: 'La Sua banca sta confermando il pagamento. Questa pagina proseguirà automaticamente.',
    },
    outOfTime: {
      title: 'Il tempo è scaduto',
      text: 'Il pagamento non è stato confermato in tempo. Ora tornerà al sito dell’esercente.',
      button: 'Continua',
    },
    problems: {
      'unknown-page': {
        title: 'Questa pagina non esiste',
        text: 'L’indirizzo è incompleto o non è mai stato valido. Torni al sito dell’esercente e riprovi.',
      },
      'form-needed': {
        title: 'Questa pagina non può essere aperta così',
        text: 'Si apre dalla pagina dell’esercente. Torni a quella pagina e riprovi.',
      },
      'wrong-form': {
        title: 'Questa richiesta non corrisponde',
        text: 'La pagina dell’esercente ha inviato dati che non appartengono a questo pagamento. Torni a quella pagina e riprovi.',
      },
      'wrong-return-address': {
        title: 'L’indirizzo di ritorno non è consentito',
        text: 'La pagina dell’esercente intendeva inviarLa a un indirizzo qui sconosciuto; per questo rimane su questa pagina. Su questa pagina non è stato pagato nulla.',
      },
      'wrong-challenge': {
        title: 'Questa conferma non corrisponde',
        text: 'I dati inviati dalla Sua banca non appartengono a questo pagamento. L’esercente Le indicherà lo stato del pagamento.',
      },
      'no-return': {
        title: 'Questa conferma è conclusa',
        text: 'L’esercente Le indicherà lo stato del pagamento.',
      },
      'wrong-method': {
        title: 'Questa pagina non può essere utilizzata in questo modo',
        text: 'Torni al sito dell’esercente e riprovi.',
      },
      unreadable: {
        title: 'Questa richiesta non è leggibile',
        text: 'Torni al sito dell’esercente e riprovi.',
      },
      busy: {
        title: 'L’operazione richiede più tempo del solito',
        text: 'Nulla è andato perso. Ricarichi questa pagina tra qualche secondo.',
      },
      broken: {
        title: 'Si è verificato un errore',
        text: 'Nulla è andato perso. L’esercente Le indicherà lo stato del pagamento.',
      },
    },
  },

  issuer: {
    bank: 'La Sua banca',
    title: (heading) => `${heading} – La Sua banca`,
    challenge: {
      heading: 'Confermi il Suo pagamento',
      text: 'La Sua banca desidera accertarsi che sia Lei a pagare.',
      notice: 'Questa è una banca di prova. Scelga l’esito dell’autenticazione.',
    },
    decisions: {
      success: 'Conferma il pagamento (esito positivo)',
      failure: 'Fai fallire l’autenticazione',
      cancel: 'Annulla',
    },
    answered: {
      heading: 'Ha già risposto',
      text: (decision) => `Vale la Sua prima risposta: ${decision}.`,
      button: 'Continua',
    },
    unknown: {
      heading: 'La Sua banca non conosce questo pagamento',
      text: 'Questa autenticazione non esiste o è troppo lontana nel tempo.',
    },
    refused: 'La Sua banca non può proseguire',
  },
};
