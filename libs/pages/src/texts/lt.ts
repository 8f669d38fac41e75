import type { Texts } from './en';

/** Lithuanian abbreviates month and year by the same letter, so the date's example is in digits. */
export const lt: Texts = {
  page: {
    secure: 'Saugus mokėjimas',
    stay: 'Daugiau automatiškai neįkelti šio puslapio iš naujo',
    lookAgain: 'Patikrinti dar kartą',
  },
  purchase: { merchant: 'Prekybininkas', card: 'Kortelė', amount: 'Suma', order: 'Užsakymas' },

  cardEntry: {
    title: (merchant) => `Mokėjimas: ${merchant}`,
    titleOfErrors: (title) => `Klaida – ${title}`,
    heading: 'Mokėjimas kortele',
    fields: {
      card_number: {
        label: 'Kortelės numeris',
        missing: 'Įveskite kortelės numerį.',
        invalid: 'Patikrinkite kortelės numerį. Tai ilgas ant kortelės nurodytas numeris.',
      },
      card_exp: {
        label: 'Galiojimo data',
        hint: 'Mėnuo ir metai, pvz., 09\u00a0/\u00a030',
        placeholder: '09 / 30',
        missing: 'Įveskite galiojimo datą.',
        invalid: 'Įveskite mėnesį ir metus, pavyzdžiui, 09\u00a0/\u00a030.',
      },
      cvv: {
        label: 'Saugos kodas',
        hint: '3 arba 4 skaitmenys ant kortelės',
        missing: 'Įveskite saugos kodą.',
        invalid: 'Saugos kodą sudaro 3 arba 4 skaitmenys.',
      },
      card_holder: {
        label: 'Vardas ir pavardė ant kortelės',
        missing: 'Įveskite ant kortelės nurodytą vardą ir pavardę.',
        invalid: 'Vardą ir pavardę sudaro nuo 2 iki 32 ženklų.',
      },
    },
    pay: (amount) => `Mokėti ${amount}`,
    privacy: 'Jūsų kortelės duomenys perduodami tik mokėjimo paslaugos teikėjui, o ne prekybininkui.',
    errors: 'Patikrinkite įvestus duomenis',
    testMode: {
      title: 'Bandomasis režimas',
      text: 'Pinigai čia nepervedami. Neįveskite tikros kortelės.',
      realCard: 'Tai ne bandomoji kortelė. Nenaudokite čia tikros kortelės.',
    },
    notAuthenticated: 'Jūsų bankas negalėjo patvirtinti jūsų tapatybės.',
    declined: 'Mokėjimas atmestas.',
    declinedText: (left, all) =>
      `Lėšos nenurašytos. Patikrinkite duomenis arba naudokite kitą kortelę. Liko bandymų: ${left} iš ${all}.`,
    waiting: {
      title: 'Jūsų mokėjimas apdorojamas',
      text: 'Palaukite. Šis puslapis rezultatą tikrina automatiškai; nemokėkite antrą kartą.',
      notFinished: 'Dar nebaigėte?',
      goOn: 'Tęsti patvirtinimą banke',
    },
    expired: {
      title: 'Šio puslapio galiojimas baigėsi',
      text: 'Mokėjimui skirtas laikas baigėsi. Lėšos nenurašytos.',
      back: 'Grįžti pas prekybininką',
    },
    closedByMerchant: {
      title: 'Šis mokėjimas uždarytas',
      text: 'Prekybininkas uždarė šį puslapį. Lėšos nenurašytos.',
    },
    closed: {
      title: 'Mokėjimas negalimas',
      text: 'Šis prekybininkas šiuo metu mokėjimų nepriima. Lėšos nenurašytos.',
    },
    unavailable: {
      title: 'Bandykite dar kartą',
      text: 'Mokėjimo paslaugos teikėjas šiuo metu negalėjo priimti Jūsų kortelės. Lėšos nenurašytos.',
      again: 'Bandyti dar kartą',
    },
    unknown: {
      title: 'Patikrinkite dar kartą',
      text: 'Jūsų mokėjimo rezultatas dar nežinomas. Įkelkite šį puslapį iš naujo; nemokėkite antrą kartą.',
    },
    notices: {
      notFound: {
        title: 'Puslapis nerastas',
        text: 'Šiuo adresu mokėjimo nėra. Patikrinkite nuorodą.',
      },
      wrongMethod: { title: 'Veiksmas negalimas', text: 'Šio puslapio taip naudoti negalima.' },
      foreignForm: {
        title: 'Veiksmas negalimas',
        text: 'Ši forma išsiųsta iš kitos svetainės ir nebuvo priimta.',
      },
      notUnderstood: {
        title: 'Duomenų perskaityti nepavyko',
        text: 'Gauta forma skiriasi nuo išsiųstosios. Grįžkite atgal ir bandykite dar kartą.',
      },
      tooSlow: { title: 'Bandykite dar kartą', text: 'Jūsų duomenys buvo siunčiami per ilgai.' },
    },
  },

  challenge: {
    start: {
      title: 'Patvirtinkite mokėjimą',
      text: 'Jūsų bankas nori įsitikinti, kad mokate Jūs. Toliau tęsite banko puslapyje.',
      button: 'Tęsti banko puslapyje',
    },
    back: {
      title: 'Grįžimas pas prekybininką',
      heading: 'Dėkojame',
      text: 'Toliau tęsite prekybininko puslapyje.',
      button: 'Tęsti',
    },
    waiting: {
      title: 'Palaukite akimirką',
      text: 'Jūsų bankas tvirtina mokėjimą. Toliau bus tęsiama automatiškai.',
    },
    outOfTime: {
      title: 'Laikas baigėsi',
      text: 'Mokėjimas nebuvo patvirtintas laiku. Grįšite pas prekybininką.',
      button: 'Tęsti',
    },
    problems: {
      'unknown-page': {
        title: 'Tokio puslapio nėra',
        text: 'Adresas neišsamus arba niekada negaliojo. Grįžkite pas prekybininką ir bandykite dar kartą.',
      },
      'form-needed': {
        title: 'Šio puslapio taip atidaryti negalima',
        text: 'Jis atidaromas iš prekybininko puslapio. Grįžkite į jį ir bandykite dar kartą.',
      },
      'wrong-form': {
        title: 'Ši užklausa netinka',
        text: 'Prekybininko puslapis atsiuntė duomenis, kurie nesusiję su šiuo mokėjimu. Grįžkite į jį ir bandykite dar kartą.',
      },
      'wrong-return-address': {
        title: 'Grįžimo adresas neleidžiamas',
        text: 'Prekybininko puslapis norėjo nukreipti Jus nežinomu adresu, todėl liekate čia. Šiame puslapyje nieko nesumokėta.',
      },
      'wrong-challenge': {
        title: 'Šis patvirtinimas netinka',
        text: 'Jūsų banko atsiųsti duomenys nesusiję su šiuo mokėjimu. Mokėjimo būseną sužinosite pas prekybininką.',
      },
      'no-return': {
        title: 'Šis patvirtinimas baigtas',
        text: 'Mokėjimo būseną sužinosite pas prekybininką.',
      },
      'wrong-method': {
        title: 'Šio puslapio taip naudoti negalima',
        text: 'Grįžkite pas prekybininką ir bandykite dar kartą.',
      },
      unreadable: {
        title: 'Šios užklausos perskaityti nepavyko',
        text: 'Grįžkite pas prekybininką ir bandykite dar kartą.',
      },
      busy: {
        title: 'Tai trunka ilgiau nei įprastai',
        text: 'Niekas neprarasta. Po kelių sekundžių įkelkite šį puslapį iš naujo.',
      },
      broken: {
        title: 'Įvyko klaida',
        text: 'Niekas neprarasta. Mokėjimo būseną sužinosite pas prekybininką.',
      },
    },
  },

  issuer: {
    bank: 'Jūsų bankas',
    title: (heading) => `${heading} – Jūsų bankas`,
    challenge: {
      heading: 'Patvirtinkite mokėjimą',
      text: 'Jūsų bankas nori įsitikinti, kad mokate Jūs.',
      notice: 'Tai bandomasis bankas. Pasirinkite, kuo baigsis autentifikavimas.',
    },
    decisions: {
      success: 'Patvirtinti mokėjimą (sėkmingai)',
      failure: 'Nepatvirtinti tapatybės',
      cancel: 'Atšaukti',
    },
    answered: {
      heading: 'Jau atsakėte',
      text: (decision) => `Galioja pirmasis Jūsų atsakymas: ${decision}.`,
      button: 'Tęsti',
    },
    unknown: {
      heading: 'Jūsų bankas tokio mokėjimo nežino',
      text: 'Tokio autentifikavimo nėra arba jis vyko per seniai.',
    },
    refused: 'Jūsų bankas negali tęsti',
  },
};
