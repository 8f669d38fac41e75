import type { Texts } from './en';

/** Polish leaves no word of one letter at the end of a line: the space after it does not break (\u00a0). */
export const pl: Texts = {
  page: {
    secure: 'Bezpieczna płatność',
    stay: 'Wyłącz automatyczne odświeżanie tej strony',
    lookAgain: 'Sprawdź ponownie',
  },
  purchase: { merchant: 'Sprzedawca', card: 'Karta', amount: 'Kwota', order: 'Zamówienie' },

  cardEntry: {
    title: (merchant) => `Płatność na rzecz ${merchant}`,
    titleOfErrors: (title) => `Błąd: ${title}`,
    heading: 'Płatność kartą',
    fields: {
      card_number: {
        label: 'Numer karty',
        missing: 'Proszę podać numer karty.',
        invalid: 'Proszę sprawdzić numer karty. Jest to długi numer widoczny na karcie.',
      },
      card_exp: {
        label: 'Data ważności',
        hint: 'Miesiąc i\u00a0rok, MM\u00a0/\u00a0RR',
        placeholder: 'MM / RR',
        missing: 'Proszę podać datę ważności karty.',
        invalid: 'Proszę podać miesiąc i\u00a0rok, na przykład 09\u00a0/\u00a030.',
      },
      cvv: {
        label: 'Kod zabezpieczający',
        hint: '3 lub 4 cyfry na karcie',
        missing: 'Proszę podać kod zabezpieczający.',
        invalid: 'Kod zabezpieczający ma 3 lub 4 cyfry.',
      },
      card_holder: {
        label: 'Imię i\u00a0nazwisko na karcie',
        missing: 'Proszę podać imię i\u00a0nazwisko widoczne na karcie.',
        invalid: 'Imię i\u00a0nazwisko mają łącznie od 2 do 32 znaków.',
      },
    },
    pay: (amount) => `Zapłać ${amount}`,
    privacy: 'Dane karty trafiają wyłącznie do serwisu płatniczego, a\u00a0nie do sprzedawcy.',
    errors: 'Proszę sprawdzić podane dane',
    testMode: {
      title: 'Tryb testowy',
      text: 'Nie są tu przekazywane żadne pieniądze. Nie podawaj prawdziwej karty.',
      realCard: 'To nie jest karta testowa. Nie używaj tu prawdziwej karty.',
    },
    notAuthenticated: 'Bank nie mógł potwierdzić Twojej tożsamości.',
    declined: 'Płatność została odrzucona.',
    declinedText: (left, all) =>
      `Nie pobrano żadnej kwoty. Proszę sprawdzić dane lub użyć innej karty. Pozostałe próby: ${left} z\u00a0${all}.`,
    waiting: {
      title: 'Płatność jest przetwarzana',
      text: 'Proszę czekać. Ta strona automatycznie sprawdza wynik; proszę nie płacić po raz drugi.',
      notFinished: 'Potwierdzenie nie zostało ukończone?',
      goOn: 'Przejdź do weryfikacji w\u00a0banku',
    },
    expired: {
      title: 'Ta strona wygasła',
      text: 'Czas na dokonanie płatności minął. Nie pobrano żadnej kwoty.',
      back: 'Powrót do sprzedawcy',
    },
    closedByMerchant: {
      title: 'Ta płatność została zamknięta',
      text: 'Sprzedawca zamknął tę stronę. Nie pobrano żadnej kwoty.',
    },
    closed: {
      title: 'Płatność nie jest możliwa',
      text: 'Ten sprzedawca obecnie nie przyjmuje płatności. Nie pobrano żadnej kwoty.',
    },
    unavailable: {
      title: 'Proszę spróbować ponownie',
      text: 'Serwis płatniczy nie mógł w\u00a0tej chwili przyjąć karty. Nie pobrano żadnej kwoty.',
      again: 'Spróbuj ponownie',
    },
    unknown: {
      title: 'Proszę sprawdzić ponownie',
      text: 'Wynik płatności nie jest jeszcze znany. Proszę odświeżyć tę stronę; proszę nie płacić po raz drugi.',
    },
    notices: {
      notFound: {
        title: 'Nie znaleziono strony',
        text: 'Pod tym adresem nie ma żadnej płatności. Proszę sprawdzić link.',
      },
      wrongMethod: { title: 'Operacja niemożliwa', text: 'Tej strony nie można użyć w\u00a0ten sposób.' },
      foreignForm: {
        title: 'Operacja niemożliwa',
        text: 'Ten formularz został wysłany z\u00a0innej strony internetowej i\u00a0nie został przyjęty.',
      },
      notUnderstood: {
        title: 'Nie można odczytać danych',
        text: 'Formularz nie dotarł w\u00a0takiej postaci, w\u00a0jakiej został wysłany. Proszę wrócić i\u00a0spróbować ponownie.',
      },
      tooSlow: {
        title: 'Proszę spróbować ponownie',
        text: 'Przesyłanie danych trwało zbyt długo.',
      },
    },
  },

  challenge: {
    start: {
      title: 'Proszę potwierdzić płatność',
      text: 'Bank chce się upewnić, że płatności dokonuje posiadacz karty. Nastąpi przejście na stronę banku.',
      button: 'Przejdź do banku',
    },
    back: {
      title: 'Powrót do sprzedawcy',
      heading: 'Dziękujemy',
      text: 'Nastąpi przejście na stronę sprzedawcy.',
      button: 'Dalej',
    },
    waiting: {
      title: 'Proszę chwilę zaczekać',
      text: 'Bank potwierdza płatność. Strona przejdzie dalej automatycznie.',
    },
    outOfTime: {
      title: 'Czas minął',
      text: 'Płatność nie została potwierdzona na czas. Nastąpi powrót do sprzedawcy.',
      button: 'Dalej',
    },
    problems: {
      'unknown-page': {
        title: 'Ta strona nie istnieje',
        text: 'Adres jest niepełny lub nigdy nie był ważny. Proszę wrócić do sprzedawcy i\u00a0spróbować ponownie.',
      },
      'form-needed': {
        title: 'Tej strony nie można otworzyć w\u00a0ten sposób',
        text: 'Otwiera ją strona sprzedawcy. Proszę tam wrócić i\u00a0spróbować ponownie.',
      },
      'wrong-form': {
        title: 'To żądanie jest nieprawidłowe',
        text: 'Strona sprzedawcy wysłała dane, które nie należą do tej płatności. Proszę tam wrócić i\u00a0spróbować ponownie.',
      },
      'wrong-return-address': {
        title: 'Adres powrotny jest niedozwolony',
        text: 'Strona sprzedawcy chciała przekierować przeglądarkę na nieznany adres, dlatego pozostaje ona tutaj. Na tej stronie nie dokonano żadnej płatności.',
      },
      'wrong-challenge': {
        title: 'To potwierdzenie jest nieprawidłowe',
        text: 'Dane wysłane przez bank nie należą do tej płatności. Stan płatności można sprawdzić u\u00a0sprzedawcy.',
      },
      'no-return': {
        title: 'To potwierdzenie jest zakończone',
        text: 'Stan płatności można sprawdzić u\u00a0sprzedawcy.',
      },
      'wrong-method': {
        title: 'Tej strony nie można użyć w\u00a0ten sposób',
        text: 'Proszę wrócić do sprzedawcy i\u00a0spróbować ponownie.',
      },
      unreadable: {
        title: 'Nie można odczytać tego żądania',
        text: 'Proszę wrócić do sprzedawcy i\u00a0spróbować ponownie.',
      },
      busy: {
        title: 'Trwa to dłużej niż zwykle',
        text: 'Nic nie zostało utracone. Proszę odświeżyć tę stronę za kilka sekund.',
      },
      broken: {
        title: 'Wystąpił błąd',
        text: 'Nic nie zostało utracone. Stan płatności można sprawdzić u\u00a0sprzedawcy.',
      },
    },
  },

  issuer: {
    bank: 'Bank',
    title: (heading) => `${heading} – Bank`,
    challenge: {
      heading: 'Proszę potwierdzić płatność',
      text: 'Bank chce się upewnić, że płatności dokonuje posiadacz karty.',
      notice: 'To jest bank testowy. Proszę wybrać wynik uwierzytelnienia.',
    },
    decisions: {
      success: 'Potwierdź płatność (powodzenie)',
      failure: 'Uwierzytelnienie nieudane',
      cancel: 'Anuluj',
    },
    answered: {
      heading: 'Odpowiedź została już udzielona',
      text: (decision) => `Obowiązuje pierwsza odpowiedź: ${decision}.`,
      button: 'Dalej',
    },
    unknown: {
      heading: 'Bank nie zna tej płatności',
      text: 'To uwierzytelnienie nie istnieje lub odbyło się zbyt dawno.',
    },
    refused: 'Bank nie może kontynuować',
  },
};
