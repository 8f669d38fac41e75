/**
 * Everything that pages say. This file is the model: the other languages have the same texts, no more and no fewer, or
 * they do not compile.
 */
export const en = {
  page: {
    secure: 'Secure payment',
    stay: 'Stop reloading this page automatically',
    lookAgain: 'Look again',
  },
  purchase: { merchant: 'Merchant', card: 'Card', amount: 'Amount', order: 'Order' },

  /** The page on which cardholders enter their card. */
  cardEntry: {
    title: (merchant: string) => `Pay ${merchant}`,
    titleOfErrors: (title: string) => `Error: ${title}`,
    heading: 'Pay by card',
    fields: {
      card_number: {
        label: 'Card number',
        missing: 'Enter the card number.',
        invalid: 'Check the card number. It is the long number on the card.',
      },
      card_exp: {
        label: 'Expiry date',
        hint: 'Month and year, MM / YY',
        placeholder: 'MM / YY',
        missing: 'Enter the expiry date.',
        invalid: 'Enter the expiry date as month and year, for example 09 / 30.',
      },
      cvv: {
        label: 'Security code',
        hint: '3 or 4 digits on the card',
        missing: 'Enter the security code.',
        invalid: 'The security code has 3 or 4 digits.',
      },
      card_holder: {
        label: 'Name on card',
        missing: 'Enter the name on the card.',
        invalid: 'The name has 2 to 32 characters.',
      },
    },
    pay: (amount: string) => `Pay ${amount}`,
    privacy: 'Your card details go to the payment service only, not to the merchant.',
    errors: 'Please check the form',
    testMode: {
      title: 'Test mode',
      text: 'No money moves here. Do not enter a real card.',
      realCard: 'This is not a test card. Do not use a real card here.',
    },
    notAuthenticated: 'Your bank could not confirm that it was you.',
    declined: 'The payment was declined.',
    declinedText: (left: number, all: number) =>
      `Nothing was charged. Check the details or use another card: ${left} of ${all} attempts left.`,
    waiting: {
      title: 'Your payment is being processed',
      text: 'Please wait. This page looks for the result by itself; do not pay a second time.',
      notFinished: 'Not finished there?',
      goOn: 'Go on with the check by your bank',
    },
    expired: {
      title: 'This page has expired',
      text: 'The time to pay is over. Nothing was charged.',
      back: 'Back to the merchant',
    },
    closedByMerchant: {
      title: 'This payment was closed',
      text: 'The merchant has closed this page. Nothing was charged.',
    },
    closed: {
      title: 'Payment not possible',
      text: 'This merchant does not take payments at the moment. Nothing was charged.',
    },
    /** The card was not taken, and the page may still be used. */
    unavailable: {
      title: 'Please try again',
      text: 'The payment service could not take your card just now. Nothing was charged.',
      again: 'Try again',
    },
    /** Makes no claim: something may have been charged. */
    unknown: {
      title: 'Please look again',
      text: 'It is not known yet how your payment stands. Load this page again; do not pay a second time.',
    },
    notices: {
      notFound: { title: 'Page not found', text: 'There is no payment at this address. Check the link.' },
      wrongMethod: { title: 'Not possible', text: 'This page cannot be used that way.' },
      foreignForm: {
        title: 'Not possible',
        text: 'This form was sent from another site, and was not taken.',
      },
      notUnderstood: {
        title: 'Not understood',
        text: 'The form did not arrive as it was sent. Go back and try again.',
      },
      tooSlow: { title: 'Please try again', text: 'Your details took too long to arrive.' },
    },
  },

  /** The pages on the way to the cardholder's bank and back. */
  challenge: {
    start: {
      title: 'Confirm your payment',
      text: 'Your bank wants to make sure that it is you. You continue on its page.',
      button: 'Continue to your bank',
    },
    back: {
      title: 'Back to the merchant',
      heading: 'Thank you',
      text: "You continue on the merchant's page.",
      button: 'Continue',
    },
    waiting: {
      title: 'One moment, please',
      text: 'Your bank is confirming the payment. This page goes on by itself.',
    },
    outOfTime: {
      title: 'The time has run out',
      text: 'The payment was not confirmed in time. You are taken back to the merchant.',
      button: 'Continue',
    },
    problems: {
      'unknown-page': {
        title: 'This page does not exist',
        text: 'The address is not complete, or it was never valid. Go back to the merchant and try again.',
      },
      'form-needed': {
        title: 'This page cannot be opened like this',
        text: 'It is opened by the page of the merchant. Go back there and try again.',
      },
      'wrong-form': {
        title: 'This request does not fit',
        text: 'The page of the merchant has sent something that does not belong to this payment. Go back there and try again.',
      },
      'wrong-return-address': {
        title: 'The way back is not allowed',
        text: 'The page of the merchant wants you to be sent to an address that is not known here, so you stay. Nothing was paid on this page.',
      },
      'wrong-challenge': {
        title: 'This confirmation does not fit',
        text: 'What your bank has sent does not belong to this payment. Go back to the merchant to see how it stands.',
      },
      'no-return': {
        title: 'This confirmation has ended',
        text: 'Go back to the merchant to see how your payment stands.',
      },
      'wrong-method': {
        title: 'This page cannot be used like this',
        text: 'Go back to the merchant and try again.',
      },
      unreadable: { title: 'This request cannot be read', text: 'Go back to the merchant and try again.' },
      busy: {
        title: 'This takes longer than usual',
        text: 'Nothing is lost. Load this page again in a few seconds.',
      },
      broken: {
        title: 'Something went wrong here',
        text: 'Nothing is lost. Go back to the merchant to see how your payment stands.',
      },
    },
  },

  /** The page of the sandbox's issuer. */
  issuer: {
    bank: 'Your bank',
    title: (heading: string) => `${heading} – Your bank`,
    challenge: {
      heading: 'Confirm your payment',
      text: 'Your bank wants to be sure that it is you who pays.',
      notice: 'This is a test bank. Choose how the authentication ends.',
    },
    decisions: { success: 'Confirm payment (success)', failure: 'Fail authentication', cancel: 'Cancel' },
    answered: {
      heading: 'You have already answered',
      text: (decision: string) => `Your first answer stands: ${decision}.`,
      button: 'Go on',
    },
    unknown: {
      heading: 'Your bank knows no such payment',
      text: 'There is no such challenge, or it is too long ago.',
    },
    /** Above the reason, which is for developers and in English. */
    refused: 'Your bank cannot go on',
  },
};

export type Texts = typeof en;
