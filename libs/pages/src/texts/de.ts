import type { Texts } from './en';

export const de: Texts = {
  page: {
    secure: 'Sichere Zahlung',
    stay: 'Diese Seite nicht mehr automatisch neu laden',
    lookAgain: 'Noch einmal nachsehen',
  },
  purchase: { merchant: 'Händler', card: 'Karte', amount: 'Betrag', order: 'Bestellung' },

  cardEntry: {
    title: (merchant) => `Zahlung an ${merchant}`,
    titleOfErrors: (title) => `Fehler: ${title}`,
    heading: 'Mit Karte bezahlen',
    fields: {
      card_number: {
        label: 'Kartennummer',
        missing: 'Bitte geben Sie die Kartennummer ein.',
        invalid: 'Bitte prüfen Sie die Kartennummer. Sie ist die lange Nummer auf der Karte.',
      },
      card_exp: {
        label: 'Gültig bis',
        hint: 'Monat und Jahr, MM\u00a0/\u00a0JJ',
        placeholder: 'MM / JJ',
        missing: 'Bitte geben Sie ein, bis wann die Karte gültig ist.',
        invalid: 'Bitte geben Sie Monat und Jahr ein, zum Beispiel 09\u00a0/\u00a030.',
      },
      cvv: {
        label: 'Sicherheitscode',
        hint: '3 oder 4 Ziffern auf der Karte',
        missing: 'Bitte geben Sie den Sicherheitscode ein.',
        invalid: 'Der Sicherheitscode hat 3 oder 4 Ziffern.',
      },
      card_holder: {
        label: 'Name auf der Karte',
        missing: 'Bitte geben Sie den Namen ein, der auf der Karte steht.',
        invalid: 'Der Name hat 2 bis 32 Zeichen.',
      },
    },
    pay: (amount) => `${amount} bezahlen`,
    privacy: 'Ihre Kartendaten gehen nur an den Zahlungsdienst, nicht an den Händler.',
    errors: 'Bitte prüfen Sie Ihre Angaben',
    testMode: {
      title: 'Testmodus',
      text: 'Hier wird kein Geld bewegt. Geben Sie keine echte Karte ein.',
      realCard: 'Das ist keine Testkarte. Verwenden Sie hier keine echte Karte.',
    },
    notAuthenticated: 'Ihre Bank konnte nicht bestätigen, dass Sie es sind.',
    declined: 'Die Zahlung wurde abgelehnt.',
    declinedText: (left, all) =>
      `Es wurde nichts abgebucht. Bitte prüfen Sie Ihre Angaben oder verwenden Sie eine andere Karte. Verbleibende Versuche: ${left} von ${all}.`,
    waiting: {
      title: 'Ihre Zahlung wird bearbeitet',
      text: 'Bitte warten Sie. Diese Seite fragt das Ergebnis automatisch ab; bezahlen Sie nicht ein zweites Mal.',
      notFinished: 'Sind Sie dort noch nicht fertig?',
      goOn: 'Weiter zur Prüfung durch Ihre Bank',
    },
    expired: {
      title: 'Diese Seite ist abgelaufen',
      text: 'Die Zeit für die Zahlung ist vorbei. Es wurde nichts abgebucht.',
      back: 'Zurück zum Händler',
    },
    closedByMerchant: {
      title: 'Diese Zahlung wurde beendet',
      text: 'Der Händler hat diese Seite geschlossen. Es wurde nichts abgebucht.',
    },
    closed: {
      title: 'Zahlung nicht möglich',
      text: 'Dieser Händler nimmt zurzeit keine Zahlungen an. Es wurde nichts abgebucht.',
    },
    unavailable: {
      title: 'Bitte versuchen Sie es noch einmal',
      text: 'Der Zahlungsdienst konnte Ihre Karte gerade nicht annehmen. Es wurde nichts abgebucht.',
      again: 'Noch einmal versuchen',
    },
    unknown: {
      title: 'Bitte sehen Sie noch einmal nach',
      text: 'Das Ergebnis Ihrer Zahlung ist noch nicht bekannt. Bitte laden Sie diese Seite neu; bezahlen Sie nicht ein zweites Mal.',
    },
    notices: {
      notFound: {
        title: 'Seite nicht gefunden',
        text: 'Unter dieser Adresse gibt es keine Zahlung. Bitte prüfen Sie den Link.',
      },
      wrongMethod: { title: 'Nicht möglich', text: 'Diese Seite lässt sich so nicht verwenden.' },
      foreignForm: {
        title: 'Nicht möglich',
        text: 'Dieses Formular wurde von einer anderen Website gesendet und nicht angenommen.',
      },
      notUnderstood: {
        title: 'Angaben nicht lesbar',
        text: 'Das Formular ist nicht so angekommen, wie es gesendet wurde. Bitte gehen Sie zurück und versuchen Sie es noch einmal.',
      },
      tooSlow: {
        title: 'Bitte versuchen Sie es noch einmal',
        text: 'Die Übertragung Ihrer Angaben hat zu lange gedauert.',
      },
    },
  },

  challenge: {
    start: {
      title: 'Bitte bestätigen Sie Ihre Zahlung',
      text: 'Ihre Bank möchte sichergehen, dass Sie es sind. Weiter geht es auf der Seite Ihrer Bank.',
      button: 'Weiter zu Ihrer Bank',
    },
    back: {
      title: 'Zurück zum Händler',
      heading: 'Vielen Dank',
      text: 'Weiter geht es auf der Seite des Händlers.',
      button: 'Weiter',
    },
    waiting: {
      title: 'Einen Moment, bitte',
      text: 'Ihre Bank bestätigt gerade die Zahlung. Danach geht es automatisch weiter.',
    },
    outOfTime: {
      title: 'Die Zeit ist abgelaufen',
      text: 'Die Zahlung wurde nicht rechtzeitig bestätigt. Sie werden nun zum Händler zurückgeleitet.',
      button: 'Weiter',
    },
    problems: {
      'unknown-page': {
        title: 'Diese Seite gibt es nicht',
        text: 'Die Adresse ist unvollständig oder war nie gültig. Bitte gehen Sie zurück zum Händler und versuchen Sie es noch einmal.',
      },
      'form-needed': {
        title: 'Diese Seite lässt sich so nicht öffnen',
        text: 'Sie wird von der Seite des Händlers aus geöffnet. Bitte gehen Sie dorthin zurück und versuchen Sie es noch einmal.',
      },
      'wrong-form': {
        title: 'Diese Anfrage passt nicht',
        text: 'Die Seite des Händlers hat etwas gesendet, das nicht zu dieser Zahlung gehört. Bitte gehen Sie dorthin zurück und versuchen Sie es noch einmal.',
      },
      'wrong-return-address': {
        title: 'Der Rückweg ist nicht zugelassen',
        text: 'Die Seite des Händlers wollte Sie an eine Adresse weiterleiten, die hier nicht bekannt ist. Deshalb bleiben Sie hier. Auf dieser Seite wurde nichts bezahlt.',
      },
      'wrong-challenge': {
        title: 'Diese Bestätigung passt nicht',
        text: 'Was Ihre Bank gesendet hat, gehört nicht zu dieser Zahlung. Den Stand Ihrer Zahlung erfahren Sie beim Händler.',
      },
      'no-return': {
        title: 'Diese Bestätigung ist abgeschlossen',
        text: 'Den Stand Ihrer Zahlung erfahren Sie beim Händler.',
      },
      'wrong-method': {
        title: 'Diese Seite lässt sich so nicht verwenden',
        text: 'Bitte gehen Sie zurück zum Händler und versuchen Sie es noch einmal.',
      },
      unreadable: {
        title: 'Diese Anfrage ist nicht lesbar',
        text: 'Bitte gehen Sie zurück zum Händler und versuchen Sie es noch einmal.',
      },
      busy: {
        title: 'Das dauert länger als üblich',
        text: 'Es ist nichts verloren. Bitte laden Sie diese Seite in einigen Sekunden neu.',
      },
      broken: {
        title: 'Hier ist ein Fehler aufgetreten',
        text: 'Es ist nichts verloren. Den Stand Ihrer Zahlung erfahren Sie beim Händler.',
      },
    },
  },

  issuer: {
    bank: 'Ihre Bank',
    title: (heading) => `${heading} – Ihre Bank`,
    challenge: {
      heading: 'Bitte bestätigen Sie Ihre Zahlung',
      text: 'Ihre Bank möchte sichergehen, dass Sie selbst bezahlen.',
      notice: 'Dies ist eine Testbank. Wählen Sie, wie die Prüfung ausgeht.',
    },
    decisions: {
      success: 'Zahlung bestätigen (Erfolg)',
      failure: 'Prüfung nicht bestehen',
      cancel: 'Abbrechen',
    },
    answered: {
      heading: 'Sie haben bereits geantwortet',
      text: (decision) => `Es gilt Ihre erste Antwort: ${decision}.`,
      button: 'Weiter',
    },
    unknown: {
      heading: 'Ihre Bank kennt diese Zahlung nicht',
      text: 'Diese Prüfung gibt es nicht, oder sie liegt zu lange zurück.',
    },
    refused: 'Ihre Bank kann nicht fortfahren',
  },
};
