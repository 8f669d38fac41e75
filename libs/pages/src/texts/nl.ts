import type { Texts } from './en';

export const nl: Texts = {
  page: {
    secure: 'Veilige betaling',
    stay: 'Deze pagina niet meer automatisch opnieuw laden',
    lookAgain: 'Opnieuw controleren',
  },
  purchase: { merchant: 'Verkoper', card: 'Kaart', amount: 'Bedrag', order: 'Bestelling' },

  cardEntry: {
    title: (merchant) => `Betaling aan ${merchant}`,
    titleOfErrors: (title) => `Fout: ${title}`,
    heading: 'Betalen met kaart',
    fields: {
      card_number: {
        label: 'Kaartnummer',
        missing: 'Vul het kaartnummer in.',
        invalid: 'Controleer het kaartnummer. Dat is het lange nummer op de kaart.',
      },
      card_exp: {
        label: 'Vervaldatum',
        hint: 'Maand en jaar, MM\u00a0/\u00a0JJ',
        placeholder: 'MM / JJ',
        missing: 'Vul de vervaldatum in.',
        invalid: 'Vul de maand en het jaar in, bijvoorbeeld 09\u00a0/\u00a030.',
      },
      cvv: {
        label: 'Beveiligingscode',
        hint: '3 of 4 cijfers op de kaart',
        missing: 'Vul de beveiligingscode in.',
        invalid: 'De beveiligingscode heeft 3 of 4 cijfers.',
      },
      card_holder: {
        label: 'Naam op de kaart',
        missing: 'Vul de naam in die op de kaart staat.',
        invalid: 'De naam heeft 2 tot en met 32 tekens.',
      },
    },
    pay: (amount) => `${amount} betalen`,
    privacy: 'Uw kaartgegevens gaan alleen naar de betaaldienst, niet naar de verkoper.',
    errors: 'Controleer uw gegevens',
    testMode: {
      title: 'Testmodus',
      text: 'Hier wordt geen geld afgeschreven. Voer geen echte kaart in.',
      realCard: 'Dit is geen testkaart. Gebruik hier geen echte kaart.',
    },
    notAuthenticated: 'Uw bank kon niet bevestigen dat u het was.',
    declined: 'De betaling is geweigerd.',
    declinedText: (left, all) =>
      `Er is niets afgeschreven. Controleer uw gegevens of gebruik een andere kaart. Resterende pogingen: ${left} van ${all}.`,
    waiting: {
      title: 'Uw betaling wordt verwerkt',
      text: 'Even geduld. Deze pagina controleert het resultaat automatisch; betaal niet een tweede keer.',
      notFinished: 'Bent u daar nog niet klaar?',
      goOn: 'Verder met de controle door uw bank',
    },
    expired: {
      title: 'Deze pagina is verlopen',
      text: 'De tijd om te betalen is voorbij. Er is niets afgeschreven.',
      back: 'Terug naar de verkoper',
    },
    closedByMerchant: {
      title: 'Deze betaling is gesloten',
      text: 'De verkoper heeft deze pagina gesloten. Er is niets afgeschreven.',
    },
    closed: {
      title: 'Betalen is niet mogelijk',
      text: 'Deze verkoper accepteert op dit moment geen betalingen. Er is niets afgeschreven.',
    },
    unavailable: {
      title: 'Probeer het opnieuw',
      text: 'De betaaldienst kon uw kaart op dit moment niet accepteren. Er is niets afgeschreven.',
      again: 'Opnieuw proberen',
    },
    unknown: {
      title: 'Controleer het opnieuw',
      text: 'Het resultaat van uw betaling is nog niet bekend. Laad deze pagina opnieuw; betaal niet een tweede keer.',
    },
    notices: {
      notFound: {
        title: 'Pagina niet gevonden',
        text: 'Op dit adres is er geen betaling. Controleer de link.',
      },
      wrongMethod: { title: 'Niet mogelijk', text: 'Deze pagina kan niet op die manier worden gebruikt.' },
      foreignForm: {
        title: 'Niet mogelijk',
        text: 'Dit formulier is vanaf een andere website verzonden en is niet geaccepteerd.',
      },
      notUnderstood: {
        title: 'Gegevens niet leesbaar',
        text: 'Het formulier is niet aangekomen zoals het is verzonden. Ga terug en probeer het opnieuw.',
      },
      tooSlow: { title: 'Probeer het opnieuw', text: 'Het verzenden van uw gegevens duurde te lang.' },
    },
  },

  challenge: {
    start: {
      title: 'Bevestig uw betaling',
      text: 'Uw bank wil zeker weten dat u het bent. U gaat verder op de pagina van uw bank.',
      button: 'Verder naar uw bank',
    },
    back: {
      title: 'Terug naar de verkoper',
      heading: 'Dank u wel',
      text: 'U gaat verder op de pagina van de verkoper.',
      button: 'Verder',
    },
    waiting: {
      title: 'Een ogenblik geduld',
      text: 'Uw bank bevestigt de betaling. Deze pagina gaat automatisch verder.',
    },
    outOfTime: {
      title: 'De tijd is verstreken',
      text: 'De betaling is niet op tijd bevestigd. U gaat nu terug naar de verkoper.',
      button: 'Verder',
    },
    problems: {
      'unknown-page': {
        title: 'Deze pagina bestaat niet',
        text: 'Het adres is onvolledig of was nooit geldig. Ga terug naar de verkoper en probeer het opnieuw.',
      },
      'form-needed': {
        title: 'Deze pagina kan niet zo worden geopend',
        text: 'Ze wordt geopend vanaf de pagina van de verkoper. Ga daarheen terug en probeer het opnieuw.',
      },
      'wrong-form': {
        title: 'Dit verzoek klopt niet',
        text: 'De pagina van de verkoper heeft gegevens verzonden die niet bij deze betaling horen. Ga daarheen terug en probeer het opnieuw.',
      },
      'wrong-return-address': {
        title: 'Het retouradres is niet toegestaan',
        text: 'De pagina van de verkoper wilde u naar een adres sturen dat hier niet bekend is. Daarom blijft u hier. Op deze pagina is niets betaald.',
      },
      'wrong-challenge': {
        title: 'Deze bevestiging klopt niet',
        text: 'De gegevens die uw bank heeft verzonden, horen niet bij deze betaling. Bij de verkoper ziet u wat de status van uw betaling is.',
      },
      'no-return': {
        title: 'Deze bevestiging is afgerond',
        text: 'Bij de verkoper ziet u wat de status van uw betaling is.',
      },
      'wrong-method': {
        title: 'Deze pagina kan niet op die manier worden gebruikt',
        text: 'Ga terug naar de verkoper en probeer het opnieuw.',
      },
      unreadable: {
        title: 'Dit verzoek is niet leesbaar',
        text: 'Ga terug naar de verkoper en probeer het opnieuw.',
      },
      busy: {
        title: 'Dit duurt langer dan gewoonlijk',
        text: 'Er is niets verloren gegaan. Laad deze pagina over enkele seconden opnieuw.',
      },
      broken: {
        title: 'Er is iets misgegaan',
        text: 'Er is niets verloren gegaan. Bij de verkoper ziet u wat de status van uw betaling is.',
      },
    },
  },

  issuer: {
    bank: 'Uw bank',
    title: (heading) => `${heading} – Uw bank`,
    challenge: {
      heading: 'Bevestig uw betaling',
      text: 'Uw bank wil zeker weten dat u zelf betaalt.',
      notice: 'Dit is een testbank. Kies hoe de controle afloopt.',
    },
    decisions: {
      success: 'Betaling bevestigen (geslaagd)',
      failure: 'Controle laten mislukken',
      cancel: 'Annuleren',
    },
    answered: {
      heading: 'U hebt al geantwoord',
      text: (decision) => `Uw eerste antwoord geldt: ${decision}.`,
      button: 'Verder',
    },
    unknown: {
      heading: 'Uw bank kent deze betaling niet',
      text: 'Deze controle bestaat niet of is te lang geleden.',
    },
    refused: 'Uw bank kan niet verdergaan',
  },
};
