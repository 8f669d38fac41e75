import type { Texts } from './en';

/** French sets a space that does not break before : (\u00a0) and a narrow one before ; ! and ? (\u202f). */
export const fr: Texts = {
  page: {
    secure: 'Paiement sécurisé',
    stay: 'Ne plus recharger cette page automatiquement',
    lookAgain: 'Vérifier à nouveau',
  },
  purchase: { merchant: 'Commerçant', card: 'Carte', amount: 'Montant', order: 'Commande' },

  cardEntry: {
    title: (merchant) => `Paiement à ${merchant}`,
    titleOfErrors: (title) => `Erreur\u00a0: ${title}`,
    heading: 'Paiement par carte',
    fields: {
      card_number: {
        label: 'Numéro de carte',
        missing: 'Veuillez saisir le numéro de la carte.',
        invalid: 'Veuillez vérifier le numéro de la carte. C’est le long numéro qui y figure.',
      },
      card_exp: {
        label: 'Date d’expiration',
        hint: 'Mois et année, MM\u00a0/\u00a0AA',
        placeholder: 'MM / AA',
        missing: 'Veuillez saisir la date d’expiration.',
        invalid: 'Veuillez saisir le mois et l’année d’expiration, par exemple 09\u00a0/\u00a030.',
      },
      cvv: {
        label: 'Code de sécurité',
        hint: '3 ou 4 chiffres sur la carte',
        missing: 'Veuillez saisir le code de sécurité.',
        invalid: 'Le code de sécurité comporte 3 ou 4 chiffres.',
      },
      card_holder: {
        label: 'Nom sur la carte',
        missing: 'Veuillez saisir le nom qui figure sur la carte.',
        invalid: 'Le nom comporte de 2 à 32 caractères.',
      },
    },
    pay: (amount) => `Payer ${amount}`,
    privacy: 'Les données de votre carte sont transmises au seul service de paiement, et non au commerçant.',
    errors: 'Veuillez vérifier votre saisie',
    testMode: {
      title: 'Mode test',
      text: 'Aucun paiement réel n’a lieu ici. Ne saisissez pas de vraie carte.',
      realCard: 'Ce n’est pas une carte de test. N’utilisez pas de vraie carte ici.',
    },
    notAuthenticated: 'Votre banque n’a pas pu confirmer votre identité.',
    declined: 'Le paiement a été refusé.',
    declinedText: (left, all) =>
      `Rien n’a été débité. Veuillez vérifier votre saisie ou utiliser une autre carte. Tentatives restantes\u00a0: ${left} sur ${all}.`,
    waiting: {
      title: 'Votre paiement est en cours de traitement',
      text: 'Veuillez patienter. Cette page recherche automatiquement le résultat\u202f; ne payez pas une seconde fois.',
      notFinished: 'Vous n’avez pas terminé\u202f?',
      goOn: 'Poursuivre la vérification de votre banque',
    },
    expired: {
      title: 'Cette page a expiré',
      text: 'Le délai de paiement est écoulé. Rien n’a été débité.',
      back: 'Retourner sur le site du commerçant',
    },
    closedByMerchant: {
      title: 'Ce paiement a été fermé',
      text: 'Le commerçant a fermé cette page. Rien n’a été débité.',
    },
    closed: {
      title: 'Paiement impossible',
      text: 'Ce commerçant n’accepte pas de paiement pour le moment. Rien n’a été débité.',
    },
    unavailable: {
      title: 'Veuillez réessayer',
      text: 'Le service de paiement n’a pas pu accepter votre carte pour le moment. Rien n’a été débité.',
      again: 'Réessayer',
    },
    unknown: {
      title: 'Veuillez vérifier à nouveau',
      text: 'Le résultat de votre paiement n’est pas encore connu. Veuillez recharger cette page\u202f; ne payez pas une seconde fois.',
    },
    notices: {
      notFound: {
        title: 'Page introuvable',
        text: 'Il n’y a aucun paiement à cette adresse. Veuillez vérifier le lien.',
      },
      wrongMethod: { title: 'Opération impossible', text: 'Cette page ne peut pas être utilisée ainsi.' },
      foreignForm: {
        title: 'Opération impossible',
        text: 'Ce formulaire a été envoyé depuis un autre site et n’a pas été accepté.',
      },
      notUnderstood: {
        title: 'Données illisibles',
        text: 'Le formulaire n’est pas arrivé tel qu’il a été envoyé. Veuillez revenir en arrière et réessayer.',
      },
      tooSlow: { title: 'Veuillez réessayer', text: 'L’envoi de vos données a pris trop de temps.' },
    },
  },

  challenge: {
    start: {
      title: 'Confirmez votre paiement',
      text: 'Votre banque souhaite s’assurer que c’est bien vous. Vous allez continuer sur sa page.',
      button: 'Continuer vers votre banque',
    },
    back: {
      title: 'Retour sur le site du commerçant',
      heading: 'Merci',
      text: 'Vous allez continuer sur le site du commerçant.',
      button: 'Continuer',
    },
    waiting: {
      title: 'Un instant, s’il vous plaît',
      text: 'Votre banque confirme le paiement. La suite s’affichera automatiquement.',
    },
    outOfTime: {
      title: 'Le délai est écoulé',
      text: 'Le paiement n’a pas été confirmé à temps. Vous allez retourner sur le site du commerçant.',
      button: 'Continuer',
    },
    problems: {
      'unknown-page': {
        title: 'Cette page n’existe pas',
        text: 'L’adresse est incomplète ou n’a jamais été valide. Veuillez retourner sur le site du commerçant et réessayer.',
      },
      'form-needed': {
        title: 'Cette page ne peut pas être ouverte ainsi',
        text: 'Elle s’ouvre depuis la page du commerçant. Veuillez y retourner et réessayer.',
      },
      'wrong-form': {
        title: 'Cette demande ne correspond pas',
        text: 'La page du commerçant a envoyé des données qui n’appartiennent pas à ce paiement. Veuillez y retourner et réessayer.',
      },
      'wrong-return-address': {
        title: 'L’adresse de retour n’est pas autorisée',
        text: 'La page du commerçant souhaitait vous envoyer à une adresse inconnue ici\u202f; vous restez donc sur cette page. Rien n’y a été payé.',
      },
      'wrong-challenge': {
        title: 'Cette confirmation ne correspond pas',
        text: 'Les données envoyées par votre banque n’appartiennent pas à ce paiement. Le site du commerçant vous indiquera où en est votre paiement.',
      },
      'no-return': {
        title: 'Cette confirmation est terminée',
        text: 'Le site du commerçant vous indiquera où en est votre paiement.',
      },
      'wrong-method': {
        title: 'Cette page ne peut pas être utilisée ainsi',
        text: 'Veuillez retourner sur le site du commerçant et réessayer.',
      },
      unreadable: {
        title: 'Cette demande est illisible',
        text: 'Veuillez retourner sur le site du commerçant et réessayer.',
      },
      busy: {
        title: 'L’opération prend plus de temps que d’habitude',
        text: 'Rien n’est perdu. Veuillez recharger cette page dans quelques secondes.',
      },
      broken: {
        title: 'Une erreur est survenue',
        text: 'Rien n’est perdu. Le site du commerçant vous indiquera où en est votre paiement.',
      },
    },
  },

  issuer: {
    bank: 'Votre banque',
    title: (heading) => `${heading} – Votre banque`,
    challenge: {
      heading: 'Confirmez votre paiement',
      text: 'Votre banque souhaite s’assurer que c’est bien vous qui payez.',
      notice: 'Ceci est une banque de test. Choisissez l’issue de l’authentification.',
    },
    decisions: {
      success: 'Confirmer le paiement (succès)',
      failure: 'Faire échouer l’authentification',
      cancel: 'Annuler',
    },
    answered: {
      heading: 'Vous avez déjà répondu',
      text: (decision) => `Votre première réponse est retenue\u00a0: ${decision}.`,
      button: 'Continuer',
    },
    unknown: {
      heading: 'Votre banque ne connaît pas ce paiement',
      text: 'Cette authentification n’existe pas ou est trop ancienne.',
    },
    refused: 'Votre banque ne peut pas continuer',
  },
};
